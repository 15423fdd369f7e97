/** Characters that could move the cursor, change colors or reverse the reading direction. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Text of the service for a terminal. Line breaks, tabs and the joiners of emoji and scripts stay. */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, (character) => (/[\n\t]/.test(character) ? character : ''));

/** The same on one line. */
export const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim();

/** A value as JSON. Unsafe characters are escaped, so that scripts read exactly what the service sent. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(UNSAFE, escapeUnits);

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
