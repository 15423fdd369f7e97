import { fieldOf, listField, present, textField } from '../turn/fields.ts';
import type { ReasoningPart } from '../turn/turn.ts';

/** Marks an `encrypted_content` that the gateway wrote. */
const PREFIX = 'gw1.';

/** Whether the gateway wrote it, so that no upstream can read it. */
export const isSealed = (content: string): boolean => content.startsWith(PREFIX);

/** The signatures and encrypted thoughts of an upstream as the opaque text of a reasoning item; null without any. */
export function sealReasoning(parts: readonly ReasoningPart[]): string | null {
  const isPlain = parts.every(
    ({ signature, encrypted }) => signature === undefined && encrypted === undefined,
  );
  if (isPlain) return null;
  const fields = parts.map(({ text, signature, encrypted }) =>
    present({ text, signature, encrypted }),
  );
  return `${PREFIX}${Buffer.from(JSON.stringify({ parts: fields })).toString('base64url')}`;
}

/** Reads what `sealReasoning` wrote; undefined for the text of another service. */
export function openReasoning(sealed: string): readonly ReasoningPart[] | undefined {
  if (!isSealed(sealed)) return undefined;
  const value = parsed(Buffer.from(sealed.slice(PREFIX.length), 'base64url').toString('utf8'));
  if (!Array.isArray(fieldOf(value, 'parts'))) return undefined;
  return listField(value, 'parts').map((part) => ({
    type: 'reasoning' as const,
    text: textField(part, 'text') ?? '',
    ...present({
      signature: textField(part, 'signature'),
      encrypted: textField(part, 'encrypted'),
    }),
  }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
