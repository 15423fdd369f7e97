const TITLE_CHARS_MAX = 60;
const ELLIPSIS = '…';
// However long the text is, no more than its beginning is looked at.
const READ_CHARS_MAX = 1_000;
const HALF_A_CHARACTER = /[\uD800-\uDBFF]$/;

/** A title out of what was said first: one line, at most 60 characters; undefined when nothing was said in words. */
export function conversationTitle(text: string): string | undefined {
  const beginning = text.trimStart().slice(0, READ_CHARS_MAX).replaceAll('\u0000', '');
  const line = beginning.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  if (line.length <= TITLE_CHARS_MAX) return line;
  const cut = line.slice(0, TITLE_CHARS_MAX - ELLIPSIS.length).replace(HALF_A_CHARACTER, '');
  return `${cut.trimEnd()}${ELLIPSIS}`;
}
