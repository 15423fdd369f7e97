import type { EmbeddingList, TokenUsage } from '@model-gateway/contracts';
import type { UpstreamEmbeddings } from '@model-gateway/router';

/** Vectors in the requested format: as numbers, or packed, which official clients request. */
export function embeddingList(
  { model, vectors }: UpstreamEmbeddings,
  usage: TokenUsage,
  format: 'float' | 'base64',
): EmbeddingList {
  const data = vectors.map((vector, index) => ({
    object: 'embedding' as const,
    index,
    embedding: format === 'base64' ? packFloats(vector) : [...vector],
  }));
  return { object: 'list', data, model, usage };
}

const FLOAT_BYTES = 4;

/** Little-endian 32-bit floats in base64. */
function packFloats(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * FLOAT_BYTES));
  return bytes.toString('base64');
}
