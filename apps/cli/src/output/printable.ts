/** Text of the service for a terminal: without control characters, which could move the cursor or change colors. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => (/[\n\t]/.test(character) ? character : ''));

/** The same on one line. */
export const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim();
