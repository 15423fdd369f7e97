/** The text as Postgres can keep it: it refuses NUL characters and halves of characters. */
export const storableText = (text: string): string =>
  text.replaceAll('\u0000', '').replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** The value as JSON that Postgres can keep. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  );
