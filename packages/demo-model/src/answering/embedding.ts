import { createHash } from 'node:crypto';

const VALUES_PER_HASH = 8;

/** A vector of length one that depends only on the text. */
export function embeddingOf(text: string, dimensions: number): Float32Array {
  const values = new Float32Array(dimensions);
  let squares = 0;
  for (let start = 0; start < dimensions; start += VALUES_PER_HASH) {
    const hash = createHash('sha256').update(`${start}:${text}`).digest();
    const end = Math.min(start + VALUES_PER_HASH, dimensions);
    for (let index = start; index < end; index += 1) {
      const value = hash.readInt32LE((index - start) * 4) / 2 ** 31;
      values[index] = value;
      squares += value * value;
    }
  }
  const length = Math.sqrt(squares);
  return values.map((value) => value / length);
}
