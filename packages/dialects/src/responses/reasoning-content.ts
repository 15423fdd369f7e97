import type { ReasoningPart } from '@model-gateway/contracts';
import { seal, unseal } from '../turn/call-signatures.ts';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';
import type { Item, ResponsesBody } from './body.ts';

/** Whether thoughts have nothing that only the upstream can read: then their summary is all of them. */
export const isPlain = (parts: readonly ReasoningPart[]): boolean =>
  parts.every(({ signature, encrypted }) => signature === undefined && encrypted === undefined);

/** Whether a client asks for the opaque text: it sends back only thoughts that have one. */
export const asksForSealed = ({ include }: ResponsesBody): boolean =>
  include?.includes('reasoning.encrypted_content') === true;

/** Thoughts, with the signatures and encrypted thoughts of an upstream, as the opaque text of a reasoning item. */
export function sealReasoning(parts: readonly ReasoningPart[]): string {
  const fields = parts.map(({ text, signature, encrypted, callId }) =>
    present({ text, signature, encrypted, callId }),
  );
  return seal({ parts: fields });
}

/** Reads what `sealReasoning` wrote; undefined for the text of another service. */
export function openReasoning(sealed: string): readonly ReasoningPart[] | undefined {
  const value = unseal(sealed);
  if (!Array.isArray(fieldOf(value, 'parts'))) return undefined;
  return listField(value, 'parts').map((part) => ({
    type: 'reasoning' as const,
    text: textField(part, 'text') ?? '',
    ...present({
      signature: textField(part, 'signature'),
      encrypted: textField(part, 'encrypted'),
      callId: textField(part, 'callId'),
    }),
  }));
}

/** Streamed thoughts come in pieces; a signature or an encrypted thought ends one. */
export function joinedThoughts(pieces: readonly ReasoningPart[]): readonly ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  let isOpen = false;
  for (const piece of pieces) {
    const last = parts.at(-1);
    const isOwn = piece.encrypted !== undefined || piece.callId !== undefined;
    const joins = isOpen && last !== undefined && !isOwn;
    if (joins) parts[parts.length - 1] = { ...piece, text: last.text + piece.text };
    else parts.push(piece);
    isOpen = piece.signature === undefined && piece.encrypted === undefined;
  }
  return parts;
}

/** A thought that is being written. */
export interface OpenThought {
  readonly at: number;
  readonly id: string;
  readonly parts: ReasoningPart[];
  text: string;
  hasSummary: boolean;
}

/** Where the summary of a thought stands. */
export const placeOf = ({ id, at }: OpenThought): Item => ({
  item_id: id,
  output_index: at,
  summary_index: 0,
});
