import { readCachedTokens, readUsage, readWritten } from '@model-gateway/contracts';
import type { UpstreamEmbedding, UpstreamEmbeddings } from '@model-gateway/router';
import { z } from 'zod';
import { unreadableAnswer, upstreamRefused } from '../errors/upstream-error.ts';
import { readJson } from '../transport/answers/read-text.ts';
import { isVector, readVectors, textsOfVectors } from '../transport/answers/read-vectors.ts';
import type { WholeResponse } from '../transport/upstream-http.ts';
import { isErrorBody } from './completion.ts';

const FLOAT_BYTES = 4;

const entrySchema = z.looseObject({
  index: readWritten(z.int()).optional(),
  embedding: z.unknown(),
});

const answerSchema = z.looseObject({
  data: z.unknown(),
  model: z.string().optional(),
  usage: z.unknown().optional(),
});

/** An embedding generates nothing, so that the total, which is all that some upstreams report, is the prompt. */
const totalSchema = z.looseObject({ total_tokens: readWritten(z.int().nonnegative()) });

/** The vectors of an answer, in the order of the inputs; base64 is unpacked. */
export async function readEmbeddings(
  { status, text }: WholeResponse,
  { model, encoding_format: format }: UpstreamEmbedding,
  secret: string | null,
): Promise<UpstreamEmbeddings> {
  const body = readJson(text);
  if (isErrorBody(body)) throw upstreamRefused(status, text, secret);
  const answer = answerSchema.safeParse(body);
  const entries = answer.success ? await readVectors(answer.data.data, readEntry) : undefined;
  if (!answer.success || entries === undefined)
    throw unreadableAnswer('the upstream response is not a list of embeddings');
  const { usage } = answer.data;
  // Lists, unless the client gets them packed; what came packed has no text.
  const isText = format !== 'base64' && entries.every(({ isPacked }) => !isPacked);
  const texts = isText ? textsOfVectors(text, 'data', 'embedding') : [];
  const sorted = entries
    .map(({ index, vector }, at) => ({ position: index ?? at, vector, text: texts[at] ?? '' }))
    .toSorted((left, right) => left.position - right.position);
  return {
    model: answer.data.model ?? model,
    vectors: sorted.map(({ vector }) => vector),
    vectorTexts: isText ? sorted.map((entry) => entry.text) : undefined,
    promptTokens:
      readUsage(usage)?.prompt_tokens ?? totalSchema.safeParse(usage).data?.total_tokens,
    cachedTokens: readCachedTokens(usage),
  };
}

interface Entry {
  readonly index: number | undefined;
  readonly vector: readonly number[];
  /** It came in base64. */
  readonly isPacked: boolean;
}

function readEntry(element: unknown): Entry | undefined {
  const entry = entrySchema.safeParse(element);
  if (!entry.success) return undefined;
  const { index, embedding } = entry.data;
  const isPacked = typeof embedding === 'string';
  const vector = isPacked ? unpack(embedding) : embedding;
  return isVector(vector) ? { index, vector, isPacked } : undefined;
}

/** Little-endian 32-bit floats in base64, which official clients request. */
function unpack(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  );
}
