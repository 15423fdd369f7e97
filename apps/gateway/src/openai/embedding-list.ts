import type { TokenUsage } from '@model-gateway/contracts';
import { createStepPauses } from '@model-gateway/kernel';
import type { UpstreamEmbeddings } from '@model-gateway/router';

/**
 * The JSON of an embeddings response, in parts. Vectors are numbers as they were written, or packed, which official clients request. Between the
 * vectors of a long one the process serves other requests.
 */
export async function embeddingList(
  { model, vectors, vectorTexts, cachedTokens }: UpstreamEmbeddings,
  usage: TokenUsage,
  format: 'float' | 'base64',
): Promise<readonly Buffer[]> {
  const pauseIfDue = createStepPauses();
  const parts: Buffer[] = [];
  let before = '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries()) {
    const embedding =
      format === 'base64'
        ? `"${packFloats(vector)}"`
        : (vectorTexts?.[index] ?? JSON.stringify(vector));
    const entry = `{"object":"embedding","index":${index},"embedding":${embedding}}`;
    parts.push(Buffer.from(before + entry));
    before = ',';
    await pauseIfDue();
  }
  const details =
    cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } };
  const reported = JSON.stringify({ ...usage, ...details });
  const end = `],"model":${JSON.stringify(model)},"usage":${reported}}`;
  parts.push(Buffer.from(vectors.length === 0 ? before + end : end));
  return parts;
}

const FLOAT_BYTES = 4;

/** Little-endian 32-bit floats in base64. */
function packFloats(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * FLOAT_BYTES));
  return bytes.toString('base64');
}
