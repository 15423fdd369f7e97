import type { AssistantPart } from '@model-gateway/contracts';
import { fieldOf, textField } from './fields.ts';

/** Marks what the gateway wrote into a field of a thought that only the service that thought it can read. */
const PREFIX = 'gw1.';

/** Whether the gateway wrote it, so that no upstream can read it. */
export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** A value as an opaque text. */
export const seal = (value: object): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(value)).toString('base64url')}`;

/** Reads what `seal` wrote; undefined for the text of another service. */
export function unseal(text: string): unknown {
  if (!isSealed(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Where Google's own chat completions have the signature of a call, so that clients which know them send it back. */
export const callSignatureFields = (signature: string | undefined) =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

/** The signature of a call of a chat message; stored messages may have it as `signature`. */
export const callSignatureOf = (call: unknown): string | undefined =>
  textField(fieldOf(fieldOf(call, 'extra_content'), 'google'), 'thought_signature') ??
  textField(call, 'signature');

/** The signature of a call as that of a thought, for APIs whose calls have none. */
export const sealCallSignature = (callId: string, signature: string): string =>
  seal({ call: callId, signature });

/** The call and its signature; undefined for the signature of a thought. */
export function openCallSignature(
  text: string,
): { readonly callId: string; readonly signature: string } | undefined {
  const value = unseal(text);
  const callId = textField(value, 'call');
  const signature = textField(value, 'signature');
  return callId === undefined || signature === undefined ? undefined : { callId, signature };
}

/** Gives the signatures of calls that came in thoughts back to their calls. */
export function withCallSignatures(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  const signatures = new Map(
    parts.flatMap((part) =>
      part.type === 'reasoning' && part.callId !== undefined ? [[part.callId, part.signature]] : [],
    ),
  );
  if (signatures.size === 0) return parts;
  return parts.flatMap((part): readonly AssistantPart[] => {
    if (part.type === 'reasoning') return part.callId === undefined ? [part] : [];
    if (part.type !== 'tool_call') return [part];
    const signature = signatures.get(part.id);
    return [signature === undefined ? part : { ...part, signature }];
  });
}
