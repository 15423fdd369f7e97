/** The beginning of a text that a page may make as long as it likes. */
export function clipText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Copied, because a part of a string keeps the whole string in memory.
  const copy = Buffer.from(text.slice(0, charsMax), 'utf16le').toString('utf16le');
  return `${copy}…`;
}
