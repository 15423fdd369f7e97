const TITLE_CHARS_MAX = 60;
const ELLIPSIS = '…';
// However long the text is, no more than its beginning is looked at.
const READ_CHARS_MAX = 1_000;

/** A title out of what was said first: one line, at most 60 characters; undefined when nothing was said in words. */
export function conversationTitle(text: string): string | undefined {
  const beginning = text.trimStart().slice(0, READ_CHARS_MAX);
  const characters = [...beginning.replaceAll('\u0000', '').replaceAll(/\s+/g, ' ').trim()];
  if (characters.length === 0) return undefined;
  if (characters.length <= TITLE_CHARS_MAX) return characters.join('');
  return `${characters
    .slice(0, TITLE_CHARS_MAX - 1)
    .join('')
    .trimEnd()}${ELLIPSIS}`;
}
