/** The beginning of a text that a page may make as long as it likes. */
export function clipText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}
