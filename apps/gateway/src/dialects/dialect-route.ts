import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import {
  type AnswerWriter,
  CHAT_API,
  type Dialect,
  type DialectRequest,
  type StreamFailure,
} from '@model-gateway/dialects';
import { requestIdOf, REST_ERRORS, type StoredReader } from '@model-gateway/http';
import {
  type Caller,
  type CallServices,
  ChatTurn,
  completeChat,
  estimatePrompt,
  expectedChat,
  type Hook,
  type Memory,
  runCall,
  streamTurn,
  type TurnServices,
} from '@model-gateway/inference';
import { describeError } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import type { CacheOptions } from '../cache/answer-cache.ts';
import type { CheckConversation } from '../conversation-check.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { sendEvents } from '../openai/write-events.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';
import type { CallRoute, HttpCall } from '../surface/http-call.ts';
import { ignoredFlags, ignoredHeader } from './ignored-header.ts';

interface DialectRoute<Request extends DialectRequest> {
  readonly path: string;
  readonly dialect: Dialect<Request>;
  /** Completes an admitted request by what is stored for its user. */
  readonly complete?: (request: Request, reader: StoredReader) => Promise<Request>;
  /** Whether the answer is stored, or depends on what was stored earlier; such an answer is not cached. */
  readonly isLinked?: (request: Request) => boolean;
  /** Keeps a complete answer before the client gets its end; returns the body that the client gets. */
  readonly keep?: (request: Request, caller: Caller, body: object) => Promise<object>;
}

interface DialectRouteDependencies extends CallServices, TurnServices {
  readonly admission: HttpAdmission;
  readonly checkConversation: CheckConversation;
  readonly hooks: readonly Hook[];
  readonly memory: Pick<Memory, 'isConfigured'>;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
}

/** Serves chat turns in one of the APIs that clients speak. */
export function createDialectRoute<Request extends DialectRequest>(
  { path, dialect, complete, isLinked, keep }: DialectRoute<Request>,
  services: DialectRouteDependencies,
): CallRoute {
  const { admission, checkConversation, hooks, memory, silenceMs } = services;
  const { flagsHeader, requestIdHeader, writeError } = dialect;
  const cache: CacheOptions<Request> = {
    state: (request) => ({
      conversation_id: request.chat.conversation_id,
      memory: request.chat.memory,
      store: request.chat['store'],
      continues: isLinked?.(request) ?? false,
    }),
    headers: flagsHeader === undefined ? [] : [flagsHeader],
  };

  async function respond(turn: ChatTurn<Request>, call: HttpCall): Promise<void> {
    const answer = await completeChat(turn, services);
    const { request, caller } = turn;
    const written = dialect.answer(answer, request);
    const body = keep === undefined ? written.body : await keep(request, caller, written.body);
    const text = written.text ?? JSON.stringify(body);
    const more = [...routeHeaders(answer), ...ignoredHeaderOf(written, answer.ignored)];
    call.answer.json([...call.headers, ...more], text);
  }

  async function stream(turn: ChatTurn<Request>, call: HttpCall): Promise<void> {
    const { response, headers } = call;
    const writer = dialect.stream(turn.request);
    const requestId = requestIdOf(call.request, response);
    const options = {
      headers,
      disconnected: call.signal,
      silenceMs,
      alive: () => writer.alive(),
      fail: (failure: unknown) => writer.fail({ ...streamFailure(failure), requestId }),
      isFailureEnough: dialect.isFailureEnough,
    };
    await sendEvents(call.answer, options, async (sink) => {
      const passesEvents = dialect.api === CHAT_API;
      const onSign = (sign: Buffer): boolean => passesEvents && sink.pass(sign);
      const streamed = await streamTurn(turn, services, { passesEvents, onSign });
      const promptTokens = (): number => estimatePrompt(turn.full);
      const beginning = writer.begin({ ...streamed.head, promptTokens }, streamed.first);
      sink.open([...routeHeaders(streamed), ...ignoredHeaderOf(writer, streamed.ignored)]);
      await sink.write(beginning);
      const ended = await streamed.deliver((portion) =>
        sink.write(
          Buffer.isBuffer(portion) ? portion : portion.map((part) => writer.write(part)).join(''),
        ),
      );
      const isCut = ended !== undefined && 'failure' in ended;
      return isCut ? ended : ending(turn, writer, call.signal);
    });
  }

  /** The last events. An answer that the client did not wait for is not kept. */
  async function ending(
    { request, caller }: ChatTurn<Request>,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = signal.aborted ? undefined : writer.answer();
    if (answer === undefined || keep === undefined) return writer.end(answer);
    return writer.end(await keep(request, caller, answer));
  }

  function withIgnoredFlags(request: Request, incoming: IncomingMessage): Request {
    const flags = ignoredFlags(flagsHeader, incoming);
    if (flags.length === 0) return request;
    const { ignored, ignoredInRelay = [] } = request;
    return {
      ...request,
      ignored: [...ignored, ...flags],
      ignoredInRelay: [...ignoredInRelay, ...flags],
    };
  }

  return {
    method: 'POST',
    path,
    ...(writeError === undefined ? {} : { writeError }),
    handle(call) {
      const { request: incoming, response } = call;
      if (requestIdHeader !== undefined)
        response.setHeader(requestIdHeader, requestIdOf(incoming, response));
      const admitting = admission.admit(call, dialect.request, {
        complete,
        expected: ({ chat }) => expectedChat(chat, memory),
        cache,
      });
      return runCall(call, admitting, services, async (running) => {
        const request = withIgnoredFlags(running.body, incoming);
        const { chat } = request;
        const id = await checkConversation(running.caller, chat.conversation_id);
        const conversation = id === undefined ? undefined : { id, history: 'client' as const };
        const turn = await ChatTurn.of(running, { request, dialect, conversation }, hooks);
        call.headers = [...call.headers, 'x-service-memory', turn.memory];
        await (chat.stream === true ? stream(turn, call) : respond(turn, call));
      });
    },
  };
}

/** What a stream tells its client of a failure. */
const streamFailure = (failure: unknown): Omit<StreamFailure, 'requestId'> => ({
  message: describeError(failure),
  upstreamStatus: statusOf(failure),
  code: failure instanceof ServiceError ? failure.code : undefined,
});

function statusOf(failure: unknown): number | undefined {
  if (failure instanceof UpstreamFailure) return failure.status;
  return failure instanceof ServiceError ? REST_ERRORS[failure.code].status : undefined;
}

/** What the API and then the backend left out. */
const ignoredHeaderOf = (
  { ignored }: { readonly ignored: readonly string[] },
  byBackend: readonly string[] = [],
): readonly string[] => ignoredHeader([...new Set([...ignored, ...byBackend])]);
