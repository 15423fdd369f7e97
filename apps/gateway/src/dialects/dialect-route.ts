import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import type {
  Dialect,
  DialectRequest,
  DialectStream,
  StreamFailure,
} from '@model-gateway/dialects';
import {
  disconnectSignal,
  REST_ERRORS,
  requestIdOf,
  sendJsonText,
  type LeanRoute,
  type StoredReader,
} from '@model-gateway/http';
import {
  completeChat,
  estimatePrompt,
  expectedChat,
  prepareTurn,
  streamChunks,
  type Caller,
  type ChatDependencies,
  type PreparedTurn,
} from '@model-gateway/inference';
import { describeError, type Clock } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import type { CacheOptions } from '../cache/answer-cache.ts';
import type { CheckConversation } from '../conversation-check.ts';
import { setLimitHeaders } from '../limit-headers.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { sendEvents } from '../openai/write-events.ts';
import { createStreamWriter, writtenAnswer } from './dialect-writer.ts';
import { ignoredFlags } from './ignored-flags.ts';
import { ignoredHeader } from './ignored-header.ts';
import type { AuthorizedRequest } from '../authorized-request.ts';
import type { RequestAuthorizer } from '../request-authorizer.ts';

export interface DialectRouteDependencies extends ChatDependencies {
  readonly authorizer: RequestAuthorizer;
  readonly checkConversation: CheckConversation;
  readonly clock: Clock;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
}

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

/** Serves chat turns in another API than chat completions. */
export function createDialectRoute<Request extends DialectRequest>(
  { path, dialect, complete, isLinked, keep }: DialectRoute<Request>,
  dependencies: DialectRouteDependencies,
): LeanRoute {
  const { authorizer, checkConversation, silenceMs } = dependencies;
  const { flagsHeader } = dialect;
  const cache: CacheOptions<Request> = {
    state: (request) => ({
      conversation_id: request.chat.conversation_id,
      memory: request.chat.memory,
      continues: isLinked?.(request) ?? false,
    }),
    headers: flagsHeader === undefined ? [] : [flagsHeader],
  };

  async function respond(
    turn: PreparedTurn,
    request: Request,
    response: ServerResponse,
    headers: readonly string[],
  ): Promise<void> {
    const answer = await completeChat(turn, dependencies);
    const written = writtenAnswer(dialect, request, answer.completion);
    const body = keep === undefined ? written.body : await keep(request, turn.caller, written.body);
    const text = JSON.stringify(body);
    const more = [...routeHeaders(answer), ...ignoredHeaderOf(written, answer.ignored)];
    sendJsonText(response, 200, text, [...headers, ...more]);
  }

  async function stream(
    turn: PreparedTurn,
    request: Request,
    response: ServerResponse,
    headers: readonly string[],
  ): Promise<void> {
    const writer = createStreamWriter(dialect, request);
    const requestId = requestIdOf(response.req, response);
    const failed = (failure: unknown): string =>
      writer.stream.fail({ ...streamFailure(failure), requestId });
    const options = {
      headers,
      disconnected: turn.signal,
      silenceMs,
      alive: () => writer.alive(),
      fail: failed,
      isFailureEnough: true,
    };
    await sendEvents(response, options, async (sink) => {
      const streamed = await streamChunks(turn, dependencies);
      const promptTokens = (): number => estimatePrompt(turn.full);
      const beginning = writer.begin({ ...streamed.head, promptTokens }, streamed.first);
      sink.open([...routeHeaders(streamed), ...ignoredHeaderOf(writer, streamed.ignored)]);
      await sink.write(beginning);
      const cut = await streamed.deliver((chunks) => sink.write(writer.write(chunks)));
      // The events of this API say whether it is whole.
      return cut === undefined ? ending(turn, request, writer.stream) : failed(cut.failure);
    });
  }

  /** The last events. An answer that the client did not wait for is not kept. */
  async function ending(
    { caller, signal }: PreparedTurn,
    request: Request,
    writer: DialectStream,
  ): Promise<string> {
    const answer = signal.aborted ? undefined : writer.answer?.();
    if (answer === undefined || keep === undefined) return writer.end(answer);
    return writer.end(await keep(request, caller, answer));
  }

  function withIgnoredFlags(request: Request, incoming: IncomingMessage): Request {
    const flags = ignoredFlags(flagsHeader, incoming);
    if (flags.length === 0) return request;
    const { ignored, ignoredInPassing = [] } = request;
    return {
      ...request,
      ignored: [...ignored, ...flags],
      ignoredInPassing: [...ignoredInPassing, ...flags],
    };
  }

  async function serve(
    authorized: AuthorizedRequest<Request>,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { caller, body, resolvedModel, fallbacks, startedAt, reservation } = authorized;
    const request = withIgnoredFlags(body, incoming);
    const refId = serviceRefOf(incoming);
    const { chat } = request;
    const conversationId = await checkConversation(caller, chat.conversation_id);
    const turn = await prepareTurn(
      {
        caller,
        surface: 'gateway',
        request: chat,
        resolvedModel,
        fallbacks,
        conversationId,
        history: 'client',
        refId,
        startedAt,
        reservation,
        trace: authorized.trace,
        signal: disconnectSignal(response),
      },
      dependencies,
    );
    const headers = [...authorized.limitHeaders, 'x-service-memory', turn.memory];
    await (chat.stream === true ? stream : respond)(turn, request, response, headers);
  }

  return {
    method: 'POST',
    path,
    writeError: (facts) => dialect.writeError(facts),
    async handle(incoming, response) {
      const { requestIdHeader } = dialect;
      if (requestIdHeader !== undefined)
        response.setHeader(requestIdHeader, requestIdOf(incoming, response));
      const authorized = await authorizer.authorizeRequest(incoming, response, dialect.request, {
        complete,
        expected: ({ chat }) => expectedChat(chat, dependencies.memory),
        cache,
      });
      if (authorized === undefined) return;
      try {
        await serve(authorized, incoming, response);
      } catch (error) {
        setLimitHeaders(response, authorized.limitHeaders);
        throw error;
      } finally {
        authorized.reservation.end();
      }
    },
  };
}

/** What a stream tells its client of a failure. */
const streamFailure = (failure: unknown): Omit<StreamFailure, 'requestId'> => ({
  message: describeError(failure),
  upstreamStatus: statusOf(failure),
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
