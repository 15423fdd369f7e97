/** A list as JSON, with the same element many times. */
export const list = (count: number, element: string): string =>
  `[${Array.from({ length: count }, () => element).join(',')}]`;

/** The fields of an object as JSON, each with another name. */
export const fields = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"f${index.toString(36)}":0`).join(',');
