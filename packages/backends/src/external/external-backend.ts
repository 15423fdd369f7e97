import type { UpstreamChat, UpstreamTurn } from '@model-gateway/contracts';
import { CHAT_API } from '@model-gateway/dialects';
import type { Clock, Tracing } from '@model-gateway/kernel';
import type {
  AnswerWatch,
  Backend,
  UpstreamApi,
  Capability,
  StreamedBody,
} from '@model-gateway/router';
import { keyHeader } from '../transport/key-header.ts';
import { ANSWER_BYTES_MAX } from '../transport/answers/answer-limits.ts';
import type { AnswerMemory } from '../transport/answers/answer-memory.ts';
import { readText, readTextAnswer } from '../transport/answers/read-text.ts';
import { cleanMessage, upstreamRefused } from '../errors/upstream-error.ts';
import {
  createUpstreamHttp,
  isSuccess,
  type UpstreamResponse,
  type UpstreamTimeouts,
  type WholeResponse,
} from '../transport/upstream-http.ts';
import { partsOf, readCompletion } from './completion.ts';
import { readEmbeddings } from './embeddings.ts';
import { createResponsesUpstream } from '../responses/responses-upstream.ts';
import { createChatSender } from '../chat-sender.ts';
import { withImageParts } from './images.ts';
import { probeResult } from './probe-result.ts';
import { createExternalRealtime } from './realtime.ts';
import { translatedBody } from './translated-body.ts';
import { JSON_HEADERS } from '../transport/plain-answers.ts';

/** The options of a chat-compatible backend. */
export interface ExternalOptions {
  readonly name: string;
  /** The result of `upstreamPrefix` for the registered URL. */
  readonly prefix: URL;
  /** The query of the registered URL, which every call has, as `?api-version=…`. */
  readonly search: string;
  readonly apiKey: string | null;
  readonly authHeader?: string | undefined;
  /** Ids that are served even if the upstream does not list them. */
  readonly models: readonly string[];
  /** Whether a server whose listing fails with a 5xx may still serve those; otherwise it is loading. */
  readonly isListingOptional: boolean;
  readonly capabilities: ReadonlySet<Capability>;
  /** Whether the upstream lists other things than it serves; then it serves the given ids. */
  readonly servesOnlyGiven?: boolean;
  /** The path of an operation, where it depends on the model. */
  readonly pathOf?: (model: string, operation: string) => string;
  /** The APIs whose requests it gets as clients sent them. */
  readonly apis?: ReadonlySet<UpstreamApi>;
  /** The path and query of the Responses API, where they differ from those of the other operations. */
  readonly responsesPath?: string;
  /** A kind that differs from this one only in these options. */
  readonly kind?: string;
  readonly timeouts: UpstreamTimeouts;
  /** How large a whole answer may be. */
  readonly answerBytesMax?: number | undefined;
  readonly answerMemory?: AnswerMemory | undefined;
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
}

const CHAT = '/chat/completions';
const EMBEDDINGS = '/embeddings';
const RESPONSES = '/responses';
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const NO_APIS: ReadonlySet<UpstreamApi> = new Set();

// A listing is read in one piece, so that a hostile one must not be long.
const LISTING_BYTES_MAX = 8 * 1024 * 1024;

/** Any HTTP API that follows the chat-completions convention. */
export function createExternalBackend(options: ExternalOptions): Backend {
  const { name, prefix, search, apiKey, timeouts, clock } = options;
  const { pathOf = (_model: string, operation: string) => operation } = options;
  const { answerBytesMax = ANSWER_BYTES_MAX, answerMemory } = options;
  const wholeLimits = { bytesMax: answerBytesMax, memory: answerMemory };
  // Read once: a URL computes its parts on each access.
  const { pathname } = prefix;
  const http = createUpstreamHttp(prefix.origin, timeouts, options);
  const realtime = createExternalRealtime(options);
  const headers = { ...JSON_HEADERS, ...keyHeader(options) };

  const cleaned = (message: string): string => cleanMessage(message, apiKey);

  const posted = (path: string, body: string, signal: AbortSignal) => ({
    method: 'POST' as const,
    path,
    headers,
    body,
    signal,
  });

  const fullPath = (model: string, operation: string): string =>
    `${pathname}${pathOf(model, operation)}${search}`;

  async function post(
    path: string,
    body: unknown,
    signal: AbortSignal,
    isWhole = false,
  ): Promise<UpstreamResponse> {
    const request = posted(path, JSON.stringify(body), signal);
    return succeeded(await http.request({ ...request, isWhole }));
  }

  async function postStream(
    path: string,
    body: StreamedBody,
    signal: AbortSignal,
  ): Promise<UpstreamResponse> {
    const streamed = { ...headers, ...streamHeaders(body) };
    const request = { method: 'POST', path, body, signal, isWhole: true } as const;
    return succeeded(await http.request({ ...request, headers: streamed }));
  }

  async function succeeded(response: UpstreamResponse): Promise<UpstreamResponse> {
    if (isSuccess(response.status)) return response;
    const detail = await readText(response.body, ERROR_BODY_BYTES_MAX);
    throw upstreamRefused(response.status, detail, apiKey, response.retryAfter);
  }

  function postWhole(
    path: string,
    body: unknown,
    signal: AbortSignal,
    watch: AnswerWatch | undefined,
  ): Promise<WholeResponse> {
    const request = { ...posted(path, JSON.stringify(body), signal), watch };
    return http.requestWhole(request, answerBytesMax);
  }

  function assertSuccess({ status, text, retryAfter }: WholeResponse): void {
    if (!isSuccess(status)) throw upstreamRefused(status, text, apiKey, retryAfter);
  }

  const sendChat = createChatSender();
  const contextOf = (model: string) => ({ model, clock, secret: apiKey });
  const { apis = NO_APIS } = options;
  const responsesPath = `${pathname}${options.responsesPath ?? `${RESPONSES}${search}`}`;
  const responses = apis.has('responses')
    ? createResponsesUpstream({
        post: (body, signal) => post(responsesPath, body, signal),
        async postWhole(body, signal, watch) {
          const response = await postWhole(responsesPath, body, signal, watch);
          assertSuccess(response);
          return response.text;
        },
        contextOf,
        answerBytesMax,
        answerMemory,
      })
    : undefined;

  return {
    name,
    kind: options.kind ?? 'external',
    apis,
    capabilities: () => options.capabilities,
    async probe(signal) {
      const path = `${pathname}/models${search}`;
      const { status, body } = await http.request({ method: 'GET', path, headers, signal });
      return probeResult(status, await readText(body, LISTING_BYTES_MAX), options);
    },
    async chat(turn, signal, watch) {
      const passed = responses?.chat(turn, signal, watch);
      if (passed !== undefined) return passed;
      const path = fullPath(turn.model, CHAT);
      const sent = await sendChat(chatBody(turn), optionsOf(turn), async (chat) => {
        const response = await postWhole(path, chat, signal, watch);
        assertSuccess(response);
        return response;
      });
      const answer = readCompletion(sent.answer, contextOf(turn.model));
      const ignored = [...turn.lost, ...sent.ignored];
      return ignored.length === 0 ? answer : { ...answer, ignored };
    },
    async chatStream(turn, signal, watch) {
      const passed = responses?.chatStream(turn, signal, watch);
      if (passed !== undefined) return passed;
      const path = fullPath(turn.model, CHAT);
      const sent = await sendChat(streamBody(turn), optionsOf(turn), (chat) =>
        post(path, chat, signal),
      );
      const { answer: response } = sent;
      const ignored = [...turn.lost, ...sent.ignored];
      if (response.contentType.startsWith('text/event-stream'))
        return { form: 'events', bytes: response.body, cleanMessage: cleaned, ignored };
      const text = await readTextAnswer(response.body, { ...wholeLimits, signal, watch });
      const answer = { status: response.status, text };
      const { completion } = readCompletion(answer, contextOf(turn.model));
      return { form: 'parts', parts: partsOf(completion), ignored };
    },
    async embed(request, signal, watch) {
      const path = fullPath(request.model, EMBEDDINGS);
      const response = await postWhole(path, request, signal, watch);
      assertSuccess(response);
      return readEmbeddings(response, request, apiKey);
    },
    async relay({ model, path, content }, signal) {
      const relayPath = fullPath(model, path);
      const response =
        'json' in content
          ? await post(relayPath, content.json, signal, !isStreamRequested(content.json))
          : await postStream(relayPath, content, signal);
      const { contentType, body: bytes } = response;
      return { contentType, bytes, cleanMessage: cleaned };
    },
    openRealtime: (opening, cancel) => realtime.open(opening, cancel),
    close() {
      realtime.close();
      return http.close();
    },
  };
}

const isStreamRequested = (body: object): boolean => 'stream' in body && body.stream === true;

/** Without a length, the body is sent in chunks. */
const streamHeaders = ({
  contentType,
  length,
}: StreamedBody): Readonly<Record<string, string>> => ({
  'content-type': contentType,
  ...(length === undefined ? {} : { 'content-length': String(length) }),
});

/** A client of chat completions that asks for an effort insists on it. */
const optionsOf = ({ api }: UpstreamTurn) => ({ mayLeaveEffort: api !== CHAT_API });

function chatBody(turn: UpstreamTurn): UpstreamChat {
  const body = translatedBody(turn);
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(hasImages)) return body;
  return { ...body, messages: messages.map(withImageParts) };
}

/** Usage is always requested, because it is billed. */
function streamBody(turn: UpstreamTurn): UpstreamChat {
  const body = chatBody(turn);
  const options: unknown = body['stream_options'];
  const given = typeof options === 'object' && options !== null ? options : {};
  return { ...body, stream: true, stream_options: { ...given, include_usage: true } };
}

function hasImages(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'images' in message;
}
