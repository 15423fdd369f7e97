/** Whether the database stores a text: it rejects NUL characters and lone surrogates. */
export const isStorableText = (text: string): boolean =>
  !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);

/** Whether the database stores a JSON value: each text in it, and each name of a field. */
export function isStorable(value: unknown): boolean {
  let isClean = true;
  JSON.stringify(value, (name, part: unknown) => {
    isClean &&= isStorableText(name) && (typeof part !== 'string' || isStorableText(part));
    return part;
  });
  return isClean;
}
