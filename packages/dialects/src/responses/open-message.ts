import type { Item } from './body.ts';
import type { ItemStatus } from './call-item.ts';

/** A message that is being written. */
export interface OpenMessage {
  readonly at: number;
  readonly id: string;
  readonly content: Item[];
  part: OpenPart | undefined;
}

/** The part of it that is being written. */
export interface OpenPart {
  readonly type: 'output_text' | 'refusal';
  readonly place: Item;
  /** The beginning of each event that adds to it. */
  readonly deltaHead: string;
  readonly annotations: Item[];
  text: string;
}

export const messageItem = (id: string, status: ItemStatus, content: readonly Item[]): Item => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content: [...content],
});

export const contentPart = ({ type, text, annotations }: OpenPart): Item =>
  type === 'output_text'
    ? { type, text, annotations: [...annotations], logprobs: [] }
    : { type, refusal: text };

/** A message as far as it came. */
export function messageSoFar({ id, content, part }: OpenMessage, status: ItemStatus): Item {
  const open = part === undefined ? [] : [contentPart(part)];
  return messageItem(id, status, [...content, ...open]);
}
