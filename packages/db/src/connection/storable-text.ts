/** The text without what Postgres rejects: NUL characters and unpaired surrogates. */
export const storableText = (text: string): string =>
  text.replaceAll('\u0000', '').replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** The value as JSON that Postgres accepts. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  );
