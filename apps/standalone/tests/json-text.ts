/** A list as JSON, with the same element many times. */
export const list = (count: number, element: string): string =>
  count === 0 ? '[]' : `[${`${element},`.repeat(count - 1)}${element}]`;

/** The fields of an object as JSON, each with another name. */
export const fields = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"f${index.toString(36)}":0`).join(',');
