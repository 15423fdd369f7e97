const TITLE_CHARS_MAX = 60;
const ELLIPSIS = '…';
// Only the beginning of a long text is read.
const READ_CHARS_MAX = 1_000;
const HALF_A_CHARACTER = /[\uD800-\uDBFF]$/;

/** A title from the first message: one line, at most 60 characters; undefined without text. */
export function conversationTitle(text: string): string | undefined {
  const beginning = text.trimStart().slice(0, READ_CHARS_MAX).replaceAll('\u0000', '');
  const line = beginning.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  if (line.length <= TITLE_CHARS_MAX) return line;
  const cut = line.slice(0, TITLE_CHARS_MAX - ELLIPSIS.length).replace(HALF_A_CHARACTER, '');
  return `${cut.trimEnd()}${ELLIPSIS}`;
}
