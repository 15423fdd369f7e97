/** The part of `JSON` that the library of TypeScript does not have yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object };

/**
 * A number of a JSON text that `JSON.stringify` would write otherwise than it was written, such as `12345678901234567890`, `1.0`
 * or `1e3`. It computes and compares as its nearest double, and `JSON.stringify` writes it as it was.
 */
export class WrittenNumber extends Number {
  readonly #text: string;

  constructor(text: string) {
    super(text);
    this.#text = text;
  }

  toJSON(): unknown {
    return rawJSON(this.#text);
  }

  override toString(): string {
    return this.#text;
  }
}

/** The value of a number, however it was written; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return value instanceof WrittenNumber ? value.valueOf() : undefined;
}
