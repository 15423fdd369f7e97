import type { UpstreamEmbeddings } from '@model-gateway/router';
import { z } from 'zod';
import { upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';
import { readJson } from '../transport/read-text.ts';
import type { WholeResponse } from '../transport/upstream-http.ts';
import { isErrorBody } from './completion.ts';

const FLOAT_BYTES = 4;

const embeddingsAnswer = z.looseObject({
  model: z.string().optional(),
  data: z.array(
    z.looseObject({
      index: z.int().optional(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.int().nonnegative() }).nullish(),
});

/** The vectors of an answer, in the order of the inputs; base64 is unpacked. */
export function readEmbeddings(
  { status, text }: WholeResponse,
  model: string,
  secret: string | null,
): UpstreamEmbeddings {
  const body = readJson(text);
  if (isErrorBody(body)) throw upstreamRefused(status, text, secret);
  const answer = embeddingsAnswer.safeParse(body);
  if (!answer.success) throw upstreamFailed('the upstream response is not a list of embeddings');
  const inOrder = answer.data.data
    .map((entry, position) => ({ position: entry.index ?? position, embedding: entry.embedding }))
    .toSorted((left, right) => left.position - right.position);
  return {
    model: answer.data.model ?? model,
    vectors: inOrder.map(({ embedding }) =>
      typeof embedding === 'string' ? unpack(embedding) : embedding,
    ),
    promptTokens: answer.data.usage?.prompt_tokens,
  };
}

/** Little-endian 32-bit floats in base64, which official clients request. */
function unpack(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  );
}
