import { readWritten, ServiceError, type UpstreamTurn } from '@model-gateway/contracts';
import { tryParseJson, type Clock, type Tracing } from '@model-gateway/kernel';
import type {
  Backend,
  Capability,
  Probe,
  UpstreamEmbedding,
  UpstreamEmbeddings,
} from '@model-gateway/router';
import { z } from 'zod';
import { begunStream } from '../transport/answers/begun-stream.ts';
import { boundedCall } from '../transport/bounded-call.ts';
import { createControlPlane, type ControlAnswer } from '../transport/control-plane.ts';
import { ANSWER_BYTES_MAX } from '../transport/answers/answer-limits.ts';
import type { AnswerMemory } from '../transport/answers/answer-memory.ts';
import {
  readExactJson,
  readJson,
  readText,
  readTextAnswer,
} from '../transport/answers/read-text.ts';
import { isVector, readVectors, textsOfVectors } from '../transport/answers/read-vectors.ts';
import { unreadableAnswer, upstreamRefused } from '../errors/upstream-error.ts';
import {
  createUpstreamHttp,
  type UpstreamResponse,
  type UpstreamTimeouts,
} from '../transport/upstream-http.ts';
import { plainBase } from '../transport/upstream-url.ts';
import { createChatSender } from '../chat-sender.ts';
import { withOneInstruction } from '../system-messages.ts';
import { localAnswer, readLocalAnswer } from './chat-answer.ts';
import { localParts } from './chat-parts.ts';
import { localChat, localIgnored } from './chat-request.ts';
import { JSON_HEADERS } from '../transport/plain-answers.ts';

interface LocalServerOptions {
  readonly name: string;
  readonly url: URL;
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
  /** How large a whole answer may be. */
  readonly answerBytesMax?: number | undefined;
  readonly answerMemory?: AnswerMemory | undefined;
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
}

const CAPABILITIES: ReadonlySet<Capability> = new Set(['chat', 'embeddings']);
const ERROR_BODY_BYTES_MAX = 64 * 1024;

// A listing is read in one piece, so that a hostile one must not be long.
const LISTED_MAX = 10_000;
const tagListing = z.looseObject({ models: z.unknown() });
const tag = z.looseObject({ name: z.string() });

const embedAnswer = z.looseObject({
  embeddings: z.unknown(),
  model: z.string().optional(),
  prompt_eval_count: readWritten(z.int().nonnegative()).optional(),
});

/** A model server with the Ollama-style API. It serves only the models it lists. */
export function createLocalServerBackend(options: LocalServerOptions): Backend {
  const { name, url, apiKey, timeouts, clock } = options;
  const { answerBytesMax: bytesMax = ANSWER_BYTES_MAX, answerMemory: memory } = options;
  const base = new URL(plainBase(url));
  const path = base.pathname.replace(/\/$/, '');
  const http = createUpstreamHttp(base.origin, timeouts, options);
  const control = createControlPlane({ prefix: plainBase(url), apiKey, timeouts });
  const headers = {
    ...JSON_HEADERS,
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  const sendChat = createChatSender();

  async function post(
    to: string,
    body: unknown,
    { signal, isWhole }: { readonly signal: AbortSignal; readonly isWhole: boolean },
  ): Promise<UpstreamResponse> {
    const response = await http.request({
      method: 'POST',
      path: `${path}${to}`,
      headers,
      body: JSON.stringify(body),
      signal,
      isWhole,
    });
    if (response.status >= 200 && response.status <= 299) return response;
    const detail = await readText(response.body, ERROR_BODY_BYTES_MAX);
    throw upstreamRefused(response.status, detail, apiKey, response.retryAfter);
  }

  async function postChat(turn: UpstreamTurn, stream: boolean, signal: AbortSignal) {
    const { answer, ignored } = await sendChat(
      withOneInstruction(turn),
      { mayLeaveEffort: true },
      (chat) => post('/api/chat', localChat(chat, { stream }), { signal, isWhole: !stream }),
    );
    return { answer, ignored: [...localIgnored(turn), ...ignored] };
  }

  return {
    name,
    kind: 'local-server',
    capabilities: () => CAPABILITIES,
    probe: async (signal) => probeResult(await control.get('/api/tags', signal)),
    chat: (turn, signal, watch) =>
      boundedCall(timeouts.totalMs, signal, async (bounded) => {
        const { answer, ignored } = await postChat(turn, false, bounded);
        const limits = { bytesMax, memory, signal: bounded, watch };
        const value = readExactJson(await readTextAnswer(answer.body, limits));
        const read = readLocalAnswer(answer.status, value, apiKey);
        return { answer: localAnswer(read, { model: turn.model, clock }), ignored };
      }),
    async chatStream(turn, signal) {
      const { answer, ignored } = await postChat(turn, true, signal);
      const parts = await begunStream(localParts(answer, apiKey));
      return { form: 'parts', parts, ignored };
    },
    async embed(request, signal, watch) {
      const { input } = request;
      if (typeof input !== 'string' && input.some((text) => typeof text !== 'string')) {
        throw new ServiceError('invalid_request', 'a local server embeds texts, not token ids');
      }
      return boundedCall(timeouts.totalMs, signal, async (bounded) => {
        const embed = { ...request, encoding_format: undefined };
        const { body } = await post('/api/embed', embed, { signal: bounded, isWhole: true });
        const text = await readTextAnswer(body, { bytesMax, memory, signal: bounded, watch });
        return readEmbeddings(text, request);
      });
    },
    close: () => http.close(),
  };
}

function probeResult({ status, text }: ControlAnswer): Probe {
  if (status < 200 || status > 299) {
    return { state: 'Degraded', models: [], reason: `the tag listing answered ${status}` };
  }
  const listing = tagListing.safeParse(tryParseJson(text));
  const tags = z.array(tag).safeParse(firstOf(listing.data?.models));
  const models = tags.success ? [...new Set(tags.data.map(({ name }) => name))] : [];
  if (models.length > 0) return { state: 'Healthy', models };
  return { state: 'Degraded', models, reason: 'it has no models to serve' };
}

const firstOf = (listed: unknown): unknown =>
  Array.isArray(listed) ? listed.slice(0, LISTED_MAX) : listed;

async function readEmbeddings(
  text: string,
  { model: requestedModel, encoding_format: format }: UpstreamEmbedding,
): Promise<UpstreamEmbeddings> {
  const answer = embedAnswer.safeParse(readJson(text));
  const vectors = answer.success
    ? await readVectors(answer.data.embeddings, readVector)
    : undefined;
  if (!answer.success || vectors === undefined) {
    throw unreadableAnswer('the upstream response is not a list of embeddings');
  }
  const { model = requestedModel, prompt_eval_count } = answer.data;
  const vectorTexts = format === 'base64' ? undefined : textsOfVectors(text, 'embeddings');
  return { model, vectors, vectorTexts, promptTokens: prompt_eval_count };
}

const readVector = (element: unknown): readonly number[] | undefined =>
  isVector(element) ? element : undefined;
