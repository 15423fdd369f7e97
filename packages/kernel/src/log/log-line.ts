/** Terminals obey them, and the text of others may have them; JSON escapes only those below a space. */
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A line of JSON without characters that control a terminal or reverse the reading direction. */
export const safeLine = (line: string): string =>
  line.replaceAll(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
