import type { ChatMessage } from '@model-gateway/contracts';

/** The text of a message: its content, or the text of its content parts. */
export function messageText({ content }: Pick<ChatMessage, 'content'>): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((part) => part['text']);
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** The beginning of a text, without an unpaired surrogate at its end. */
export function beginningOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '');
}
