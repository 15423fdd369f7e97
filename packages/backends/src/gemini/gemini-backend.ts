import { ServiceError } from '@model-gateway/contracts';
import { isCheapJson, numberOf, tryParseJson } from '@model-gateway/kernel';
import type { AnswerWatch, Backend, Probe } from '@model-gateway/router';
import { z } from 'zod';
import { statusOf } from '../errors/google-error.ts';
import { unreadableAnswer, upstreamRefused } from '../errors/upstream-error.ts';
import type { ExternalOptions } from '../external/external-backend.ts';
import { unlistedProbe } from '../external/probe-result.ts';
import { begunStream } from '../transport/answers/begun-stream.ts';
import { keyHeader } from '../transport/key-header.ts';
import { ANSWER_BYTES_MAX } from '../transport/answers/answer-limits.ts';
import { readJson, readSmallJson, readText } from '../transport/answers/read-text.ts';
import { isVector, readVectors, textsOfVectors } from '../transport/answers/read-vectors.ts';
import { createUpstreamHttp, isSuccess } from '../transport/upstream-http.ts';
import { answerOf, partsOfAnswer } from './gemini-answer.ts';
import { generateRequest } from './gemini-request.ts';
import { JSON_HEADERS } from '../transport/plain-answers.ts';

interface GeminiOptions extends Omit<ExternalOptions, 'prefix'> {
  /** The API, as `https://generativelanguage.googleapis.com`, with or without a version. */
  readonly url: URL;
}

const VERSION_PATH = '/v1beta';
const MODEL_PREFIX = 'models/';
const METHODS: readonly string[] = ['generateContent', 'embedContent'];
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const LISTING_BYTES_MAX = 8 * 1024 * 1024;
const LISTED_MAX = 1_000;

const listing = z.looseObject({
  models: z
    .array(
      z.looseObject({
        name: z.string(),
        supportedGenerationMethods: z.array(z.string()).optional(),
        inputTokenLimit: z.int().positive().optional(),
      }),
    )
    .max(LISTED_MAX),
});

const embedded = z.looseObject({ embeddings: z.unknown() });
const vectorSchema = z.looseObject({ values: z.unknown() });

function readVector(element: unknown): readonly number[] | undefined {
  const values = vectorSchema.safeParse(element).data?.values;
  return isVector(values) ? values : undefined;
}

/** The Gemini API. */
export function createGeminiBackend(options: GeminiOptions): Backend {
  const { name, url, apiKey, timeouts, clock } = options;
  const { answerBytesMax = ANSWER_BYTES_MAX } = options;
  const path = url.pathname.replace(/\/+$/, '');
  const base = path === '' ? VERSION_PATH : path;
  const http = createUpstreamHttp(url.origin, timeouts, options);
  const authHeader = options.authHeader ?? 'x-goog-api-key';
  const headers = { ...JSON_HEADERS, ...keyHeader({ apiKey, authHeader }) };

  const posted = (model: string, method: string, body: unknown, signal: AbortSignal) => ({
    method: 'POST' as const,
    path: `${base}/${MODEL_PREFIX}${encodeURIComponent(model)}:${method}`,
    headers,
    body: JSON.stringify(body),
    signal,
  });

  async function whole(
    model: string,
    method: string,
    body: unknown,
    call: { readonly signal: AbortSignal; readonly watch: AnswerWatch | undefined },
  ): Promise<string> {
    const request = { ...posted(model, method, body, call.signal), watch: call.watch };
    const { status, text, retryAfter } = await http.requestWhole(request, answerBytesMax);
    if (!isSuccess(status)) throw upstreamRefused(status, text, apiKey, retryAfter);
    return text;
  }

  return {
    name,
    kind: 'gemini',
    capabilities: () => options.capabilities,
    async probe(signal) {
      const listPath = `${base}/models?pageSize=${LISTED_MAX}`;
      const answer = await http.request({ method: 'GET', path: listPath, headers, signal });
      return probeResult(answer.status, await readText(answer.body, LISTING_BYTES_MAX), options);
    },
    async chat(turn, signal, watch) {
      const { body: sent, ignored } = generateRequest(turn);
      const answer = readSmallJson(
        await whole(turn.model, 'generateContent', sent, { signal, watch }),
      );
      return { answer: answerOf(answer, { model: turn.model, clock }), ignored };
    },
    async chatStream(turn, signal) {
      const method = 'streamGenerateContent?alt=sse';
      const { body: sent, ignored } = generateRequest(turn);
      const response = await http.request(posted(turn.model, method, sent, signal));
      if (!isSuccess(response.status)) {
        const detail = await readText(response.body, ERROR_BODY_BYTES_MAX);
        throw upstreamRefused(response.status, detail, apiKey, response.retryAfter);
      }
      const parts = await begunStream(partsOfAnswer(response.body, apiKey));
      return { form: 'parts', parts, ignored };
    },
    async embed({ model, input, dimensions, encoding_format: format }, signal, watch) {
      const texts = typeof input === 'string' ? [input] : input;
      const requests = texts.map((text) => {
        if (typeof text !== 'string') {
          throw new ServiceError('invalid_request', 'this model embeds texts, not token ids');
        }
        const content = { parts: [{ text }] };
        const size = numberOf(dimensions) !== undefined ? { outputDimensionality: dimensions } : {};
        return { model: `${MODEL_PREFIX}${model}`, content, ...size };
      });
      const text = await whole(model, 'batchEmbedContents', { requests }, { signal, watch });
      const answer = embedded.safeParse(readJson(text));
      const vectors = answer.success
        ? await readVectors(answer.data.embeddings, readVector)
        : undefined;
      if (vectors === undefined)
        throw unreadableAnswer('the upstream response is not a list of embeddings');
      const vectorTexts =
        format === 'base64' ? undefined : textsOfVectors(text, 'embeddings', 'values');
      return { model, vectors, vectorTexts, promptTokens: undefined };
    },
    close: () => http.close(),
  };
}

function probeResult(
  status: number,
  text: string,
  { models: given, isListingOptional }: Pick<GeminiOptions, 'models' | 'isListingOptional'>,
): Probe {
  if (!isSuccess(status))
    return unlistedProbe(statusOf(status, text), { models: given, isListingOptional });
  const listed =
    listing.safeParse(isCheapJson(text) ? tryParseJson(text) : undefined).data?.models ?? [];
  const served = listed.filter(
    ({ supportedGenerationMethods: methods }) =>
      methods === undefined || methods.some((method) => METHODS.includes(method)),
  );
  const idOf = (name: string): string =>
    name.startsWith(MODEL_PREFIX) ? name.slice(MODEL_PREFIX.length) : name;
  const models = [...new Set([...given, ...served.map((model) => idOf(model.name))])];
  if (models.length === 0) {
    return { state: 'Degraded', models, reason: 'it has no models to serve' };
  }
  const lengths = served.flatMap(({ name, inputTokenLimit }) =>
    inputTokenLimit === undefined ? [] : [[idOf(name), inputTokenLimit] as const],
  );
  return { state: 'Healthy', models, contextLengths: new Map(lengths) };
}
