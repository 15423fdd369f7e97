import type { ReasoningPart, ToolCallPart } from '@model-gateway/contracts';
import { callSignatureOf } from '../turn/call-signatures.ts';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';

/**
 * The reasoning of a chat message or delta. `reasoning_details` has signatures and encrypted thoughts; without it the text
 * is in `reasoning_content` or `reasoning`, and some upstreams send the same in both.
 */
export function reasoningPartsOf(message: unknown): readonly ReasoningPart[] {
  const text = textField(message, 'reasoning_content') ?? textField(message, 'reasoning') ?? '';
  const details = listField(message, 'reasoning_details').flatMap(detailOf);
  const [only] = details;
  // A client that joined the pieces of a stream has the text there, and the signature that came after it here.
  if (details.length === 1 && only?.text === '' && only.encrypted === undefined)
    return [{ ...only, text }];
  if (details.length > 0) return details;
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

function detailOf(detail: unknown): readonly ReasoningPart[] {
  const type = textField(detail, 'type');
  if (type === 'reasoning.encrypted') {
    const encrypted = textField(detail, 'data');
    return encrypted === undefined ? [] : [{ type: 'reasoning', text: '', encrypted }];
  }
  const text = textField(detail, 'text') ?? textField(detail, 'summary') ?? '';
  const signature = textField(detail, 'signature');
  if (text === '' && signature === undefined) return [];
  return [{ type: 'reasoning', text, ...present({ signature }) }];
}

/** The same reasoning as fields of a chat message or delta. */
export function reasoningFields(
  parts: readonly ReasoningPart[],
): Readonly<Record<string, unknown>> {
  const text = parts.map((part) => part.text).join('');
  const isPlain = parts.every(
    ({ signature, encrypted }) => signature === undefined && encrypted === undefined,
  );
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    ...(isPlain ? {} : { reasoning_details: parts.map(detailField) }),
  };
}

const detailField = ({ text, signature, encrypted }: ReasoningPart) =>
  encrypted === undefined
    ? { type: 'reasoning.text', text, ...present({ signature }) }
    : { type: 'reasoning.encrypted', data: encrypted };

/** A tool call of a chat message. Arguments are text or, at some upstreams, an object. */
export function toolCallPartOf(call: unknown): ToolCallPart {
  const called = fieldOf(call, 'function');
  const given = fieldOf(called, 'arguments');
  return {
    type: 'tool_call',
    id: textField(call, 'id') ?? '',
    name: textField(called, 'name') ?? '',
    arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    ...present({ signature: callSignatureOf(call) }),
  };
}
