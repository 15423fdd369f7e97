import { estimateTokens } from '@model-gateway/billing';
import type { EmbeddingsRequest, TokenUsage } from '@model-gateway/contracts';
import {
  type AnswerWatch,
  UnsupportedByBackend,
  UpstreamFailure,
  type BackendKind,
  type EmbeddingInput,
  type Lease,
  type Router,
  type UpstreamEmbedding,
  type UpstreamEmbeddings,
} from '@model-gateway/router';
import { settle } from '../call/settle.ts';
import { attempt } from '../upstream/attempts.ts';
import type { Ask } from '../upstream/retries.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { Caller } from './caller.ts';
import type { ExpectedUsage, Reservation } from '../quota/reservation.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestTrace } from '../usage/request-trace.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';
import { allowedBy } from './model-rules.ts';
import { settledCall } from './chat-turn.ts';

/** One embeddings request. */
export interface EmbeddingsTurn {
  readonly caller: Caller;
  readonly surface: string;
  readonly request: EmbeddingsRequest;
  /** The target of its model's alias. */
  readonly resolvedModel: string;
  /** Models that are tried when this one cannot answer. */
  readonly fallbacks?: readonly FallbackModel[] | undefined;
  readonly refId: string | null;
  /** When the request arrived, by `performance.now()`. */
  readonly startedAt: number;
  readonly reservation?: Reservation | undefined;
  readonly trace?: RequestTrace | undefined;
  /** Aborted when the client disconnected. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client has the answer, or has left. Absent where that is not known. */
  readonly onEnd?: AnswerWatch['onEnd'];
}

export interface EmbeddingsAnswer {
  readonly embeddings: UpstreamEmbeddings;
  readonly usage: TokenUsage;
  /** The name of the backend that served it. */
  readonly backend: string;
  /** The model as that backend lists it. */
  readonly model: string;
}

interface EmbeddingsDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

// Fields for the gateway.
const OWN_FIELDS = new Set(['conversation_id', 'memory', 'extra', 'provider', 'models']);

// The kinds that forward a request unchanged.
const KINDS_WITH_TOKENS: ReadonlySet<BackendKind> = new Set<BackendKind>([
  'external',
  'azure',
  'agent',
]);

/** Serves one embeddings request: route, call the upstream, meter, respond. */
export async function embedTexts(
  turn: EmbeddingsTurn,
  { router, telemetry, meter, requests }: EmbeddingsDependencies,
): Promise<EmbeddingsAnswer> {
  const { request, resolvedModel, fallbacks, caller, trace, signal } = turn;
  const input = typeof request.input === 'string' ? [request.input] : request.input;
  const estimate = () => promptUsage(estimateInput(input));
  const provider = request.provider ?? undefined;
  const query = {
    model: request.model,
    resolved: resolvedModel,
    fallbacks,
    capability: 'embeddings',
    provider,
    allows: allowedBy(caller),
    signal,
    trace,
    onAccepted: () => requests.accepted(),
    onLeft: async (lease: Lease) => {
      const usage = estimate();
      await settle(settledCall(turn), { lease }, { usage }, 'left', meter);
    },
  } as const;
  const ask: Ask<UpstreamEmbeddings> = async ({ backend, model }, cancel, onFirstByte) => {
    if (backend.embed === undefined) throw cannotEmbed(backend.name);
    if (!isTexts(input) && !KINDS_WITH_TOKENS.has(backend.kind)) throw takesTextsOnly();
    const watch = { onFirstByte, onEnd: turn.onEnd };
    const embeddings = await backend.embed(upstreamBody(request, model), cancel, watch);
    requireAll(embeddings, input);
    return embeddings;
  };
  const { answer, lease, call } = await attempt({ router, telemetry }, query, ask);
  void lease.settle('success');
  const { promptTokens: reported, cachedTokens } = answer;
  const observed = {
    usage: reported === undefined ? estimate() : promptUsage(reported),
    unitsOf: () => ({ cachedTokens }),
    estimate,
    outcome: () => ({ model: answer.model }),
  };
  const usage = await settle(settledCall(turn), { lease, call }, observed, 'complete', meter);
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
    ([name, value]) => !OWN_FIELDS.has(name) && value !== null,
  );
  return { ...Object.fromEntries(forwarded), model, input: request.input };
}

const isTexts = (input: EmbeddingInput): input is readonly string[] => typeof input[0] === 'string';

const isTokens = (input: EmbeddingInput): input is readonly number[] =>
  typeof input[0] === 'number';

/** One list of token ids is one input. */
const countInputs = (input: EmbeddingInput): number => (isTokens(input) ? 1 : input.length);

function estimateInput(input: EmbeddingInput): number {
  if (isTexts(input)) return input.reduce((sum, text) => sum + estimateTokens(text), 0);
  return isTokens(input) ? input.length : input.flat().length;
}
