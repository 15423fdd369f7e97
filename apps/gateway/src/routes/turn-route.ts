import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChatRequest } from '@model-gateway/contracts';
import {
  disconnectSignal,
  requestIdOf,
  type ErrorWriter,
  type LeanRoute,
  type StoredReader,
} from '@model-gateway/http';
import {
  expectedChat,
  prepareTurn,
  type ChatDependencies,
  type PreparedTurn,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { OwnRequest } from '@model-gateway/dialects';
import type { z } from 'zod';
import type { AuthorizedRequest } from '../authorized-request.ts';
import type { CacheOptions } from '../cache/answer-cache.ts';
import type { CheckConversation } from '../conversation-check.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import type { RequestAuthorizer } from '../request-authorizer.ts';

export interface TurnRouteDependencies extends ChatDependencies {
  readonly authorizer: RequestAuthorizer;
  readonly checkConversation: CheckConversation;
  readonly clock: Clock;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
}

/** A turn, and the request that it was read from. */
export interface ServedTurn<Request> {
  readonly turn: PreparedTurn;
  readonly request: Request;
  readonly response: ServerResponse;
  /** For every response to the turn. */
  readonly headers: readonly string[];
}

/** The models of a request, where limits and quotas look for them. */
interface NamedModels {
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
}

/** How an API says what a turn is, and gets its answer. */
interface TurnRoute<Request extends NamedModels> {
  readonly path: string;
  readonly schema: z.ZodType<Request>;
  readonly chatOf: (request: Request) => ChatRequest;
  /** The request in its own API; undefined for chat completions. */
  readonly ownOf: (request: Request) => OwnRequest | undefined;
  /** Completes an admitted request by what is stored for its user. */
  readonly complete?: ((request: Request, reader: StoredReader) => Promise<Request>) | undefined;
  readonly cache: CacheOptions<Request>;
  readonly writeError?: ErrorWriter | undefined;
  /** Where its clients look for the id of a request, besides `x-request-id`. */
  readonly requestIdHeader?: string | undefined;
  /** The request with what its headers add. */
  readonly withHeaders?: (request: Request, incoming: IncomingMessage) => Request;
  readonly respond: (served: ServedTurn<Request>) => Promise<void>;
}

/** Serves chat turns: the request is admitted and prepared, the API of the route writes the answer. */
export function createTurnRoute<Request extends NamedModels>(
  route: TurnRoute<Request>,
  dependencies: TurnRouteDependencies,
): LeanRoute {
  const { path, schema, chatOf, complete, cache, writeError } = route;
  const { authorizer, checkConversation, memory } = dependencies;

  async function serve(
    authorized: AuthorizedRequest<Request>,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { caller, body, resolvedModel, fallbacks, startedAt, reservation, trace } = authorized;
    const request = route.withHeaders?.(body, incoming) ?? body;
    const chat = chatOf(request);
    const refId = serviceRefOf(incoming);
    const checking = checkConversation(caller, chat.conversation_id);
    const conversationId = checking === undefined ? undefined : await checking;
    const { signal, onEnd } = disconnectSignal(response);
    const prepared = prepareTurn(
      {
        caller,
        surface: 'gateway',
        request: chat,
        own: route.ownOf(request),
        resolvedModel,
        fallbacks,
        conversationId,
        history: 'client',
        refId,
        startedAt,
        reservation,
        trace,
        signal,
        onEnd,
      },
      dependencies,
    );
    const turn = prepared instanceof Promise ? await prepared : prepared;
    const ofMemory = ['x-service-memory', turn.memory] as const;
    try {
      const headers = authorized.limitHeaders.concat(ofMemory);
      await route.respond({ turn, request, response, headers });
    } catch (error) {
      if (!response.headersSent) response.setHeader(...ofMemory);
      throw error;
    }
  }

  return {
    method: 'POST',
    path,
    ...(writeError === undefined ? {} : { writeError }),
    async handle(incoming, response) {
      if (route.requestIdHeader !== undefined)
        response.setHeader(route.requestIdHeader, requestIdOf(incoming, response));
      const authorized = await authorizer.authorizeRequest(incoming, response, schema, {
        complete,
        expected: (request) => expectedChat(chatOf(request), memory),
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
