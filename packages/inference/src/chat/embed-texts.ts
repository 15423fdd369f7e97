import { estimateTokens } from '@model-gateway/billing';
import type { EmbeddingsRequest, TokenUsage } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import { UNSENT_FIELDS } from '@model-gateway/dialects';
import {
  UnsupportedByBackend,
  UpstreamFailure,
  type EmbeddingInput,
  type UpstreamEmbedding,
  type UpstreamEmbeddings,
} from '@model-gateway/router';
import type { RunningCall } from '../call/run-call.ts';
import type { ExpectedUsage } from '../quota/reservation.ts';
import type { Ask } from '../upstream/retries.ts';

export interface EmbeddingsAnswer {
  readonly embeddings: UpstreamEmbeddings;
  readonly usage: TokenUsage;
  /** The name of the backend that served it. */
  readonly backend: string;
  /** The model as that backend lists it. */
  readonly model: string;
}

/** Serves one embeddings request: asks its targets, settles, and returns the vectors. */
export async function embedTexts(
  running: RunningCall<EmbeddingsRequest>,
): Promise<EmbeddingsAnswer> {
  const { body } = running;
  const input = typeof body.input === 'string' ? [body.input] : body.input;
  const estimate = () => promptUsage(estimateInput(input));
  const ask: Ask<UpstreamEmbeddings> = async ({ backend, model }, cancel, onFirstByte) => {
    if (backend.embed === undefined) throw cannotEmbed(backend.name);
    if (!isTexts(input) && backend.facts?.takesTokenIds !== true) throw takesTextsOnly();
    const watch = { onFirstByte, onEnd: running.onEnd };
    const embeddings = await backend.embed(upstreamBody(body, model), cancel, watch);
    requireAll(embeddings, input);
    return embeddings;
  };
  const whenLeft = () => ({ usage: estimate() });
  const { answer, lease, tracked } = await running.attempt(
    { capability: 'embeddings', whenLeft },
    ask,
  );
  void lease.settle('success');
  const { promptTokens: reported, cachedTokens } = answer;
  const observed = {
    usage: reported === undefined ? estimate() : promptUsage(reported),
    unitsOf: () => ({ cachedTokens }),
    estimate,
    outcome: () => ({ model: answer.model }),
  };
  const usage = (await running.settle({ lease, tracked }, observed, 'complete')) ?? observed.usage;
  return { embeddings: answer, usage, backend: lease.backend.name, model: lease.model };
}

/** The usage of a request that generates nothing. */
const promptUsage = (prompt_tokens: number): TokenUsage => ({
  prompt_tokens,
  completion_tokens: 0,
  total_tokens: prompt_tokens,
});

/** What an embeddings request is expected to use. */
export const expectedEmbeddings = ({ input }: EmbeddingsRequest): ExpectedUsage => ({
  promptTokens: estimateInput(typeof input === 'string' ? [input] : input),
  completionTokens: 0,
});

const cannotEmbed = (backend: string): UnsupportedByBackend =>
  new UnsupportedByBackend(
    'unsupported_operation',
    `backend '${backend}' does not support embeddings`,
  );

const takesTextsOnly = (): UnsupportedByBackend =>
  new UnsupportedByBackend(
    'missing_fields',
    `'input': the backend of this model takes texts, not token ids`,
  );

/** If inputs were missing, the caller would get vectors of other inputs. */
function requireAll({ vectors }: UpstreamEmbeddings, input: EmbeddingInput): void {
  const expected = countInputs(input);
  if (vectors.length === expected) return;
  throw new UpstreamFailure(
    `the upstream answered ${vectors.length} embeddings for ${expected} inputs`,
    { isBackendAtFault: true, wasAnswered: true },
  );
}

/** The input goes as it came: for some upstreams a text and a list of one text are not the same. */
function upstreamBody(request: EmbeddingsRequest, model: string): UpstreamEmbedding {
  const forwarded = Object.entries(request).filter(
    ([name, value]) => !UNSENT_FIELDS.has(name) && value !== null,
  );
  return { ...Object.fromEntries(forwarded), model, input: request.input };
}

const isTexts = (input: EmbeddingInput): input is readonly string[] => typeof input[0] === 'string';

const isTokens = (input: EmbeddingInput): input is readonly number[] =>
  numberOf(input[0]) !== undefined;

/** One list of token ids is one input. */
const countInputs = (input: EmbeddingInput): number => (isTokens(input) ? 1 : input.length);

function estimateInput(input: EmbeddingInput): number {
  if (isTexts(input)) return input.reduce((sum, text) => sum + estimateTokens(text), 0);
  return isTokens(input) ? input.length : input.flat().length;
}
