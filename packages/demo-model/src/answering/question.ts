import type { ChatMessage, ChatRequest } from './chat-request.ts';

/** The part of a conversation that an answer is about. */
export interface Question {
  /** What the user wrote last, without the blocks that agents add. */
  readonly text: string;
  /** The messages after it: calls of tools, and their results. */
  readonly since: readonly ChatMessage[];
}

/** Enough for a question; more text is read at its beginning and at its end only. */
const READ_CHARS_MAX = 32 * 1024;
const QUESTION_CHARS_MAX = 8 * 1024;

/** The last user message that says something: agents also send messages that consist of their own blocks. */
export function questionOf({ messages }: ChatRequest): Question {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    const text = withoutBlocks(message.text);
    if (text !== '' || message.attachments.length > 0)
      return { text, since: messages.slice(index + 1) };
  }
  const last = messages.findLast(({ role }) => role === 'user');
  return { text: last?.text ?? '', since: [] };
}

/** Agents wrap their reminders in tags with compound names, such as `<system-reminder>`. */
const BLOCK_START = /<([A-Za-z]+(?:[_-][A-Za-z]+)+)>/g;

function withoutBlocks(text: string): string {
  const read =
    text.length <= 2 * READ_CHARS_MAX
      ? text
      : `${text.slice(0, READ_CHARS_MAX)}\n${text.slice(-READ_CHARS_MAX)}`;
  const kept: string[] = [];
  let at = 0;
  for (const { 0: start, 1: name, index } of read.matchAll(BLOCK_START)) {
    if (index < at) continue;
    const end = `</${name}>`;
    const endsAt = read.indexOf(end, index + start.length);
    if (endsAt === -1) continue;
    kept.push(read.slice(at, index));
    at = endsAt + end.length;
  }
  return [...kept, read.slice(at)].join('').trim().slice(0, QUESTION_CHARS_MAX);
}
