import { readCachedTokens, readUsage, readWritten } from '@model-gateway/contracts';
import type { UpstreamEmbeddings } from '@model-gateway/router';
import { z } from 'zod';
import { unreadableAnswer, upstreamRefused } from '../errors/upstream-error.ts';
import { readJson } from '../transport/answers/read-text.ts';
import { isVector, readVectors } from '../transport/answers/read-vectors.ts';
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
  model: string,
  secret: string | null,
): Promise<UpstreamEmbeddings> {
  const body = readJson(text);
  if (isErrorBody(body)) throw upstreamRefused(status, text, secret);
  const answer = answerSchema.safeParse(body);
  const entries = answer.success ? await readVectors(answer.data.data, readEntry) : undefined;
  if (!answer.success || entries === undefined)
    throw unreadableAnswer('the upstream response is not a list of embeddings');
  const { usage } = answer.data;
  return {
    model: answer.data.model ?? model,
    vectors: entries
      .map(({ index, vector }, position) => ({ position: index ?? position, vector }))
      .toSorted((left, right) => left.position - right.position)
      .map(({ vector }) => vector),
    promptTokens:
      readUsage(usage)?.prompt_tokens ?? totalSchema.safeParse(usage).data?.total_tokens,
    cachedTokens: readCachedTokens(usage),
  };
}

interface Entry {
  readonly index: number | undefined;
  readonly vector: readonly number[];
}

function readEntry(element: unknown): Entry | undefined {
  const entry = entrySchema.safeParse(element);
  if (!entry.success) return undefined;
  const { index, embedding } = entry.data;
  const vector = typeof embedding === 'string' ? unpack(embedding) : embedding;
  return isVector(vector) ? { index, vector } : undefined;
}

/** Little-endian 32-bit floats in base64, which official clients request. */
function unpack(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  );
}
