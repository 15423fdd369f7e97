import { createHash } from 'node:crypto';

const VALUE_BYTES = 4;

/** A vector of length one that depends only on the text. The text is read once, however many dimensions there are. */
export function embeddingOf(text: string, dimensions: number): Float32Array {
  const seed = createHash('sha256').update(text).digest();
  const outputLength = dimensions * VALUE_BYTES;
  const bytes = createHash('shake256', { outputLength }).update(seed).digest();
  const values = new Float32Array(dimensions);
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const value = bytes.readInt32LE(index * VALUE_BYTES) / 2 ** 31;
    values[index] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  return values.map((value) => value / length);
}
