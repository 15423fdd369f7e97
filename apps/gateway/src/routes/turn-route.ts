import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChatRequest } from '@model-gateway/contracts';
import { requestIdOf, type ErrorWriter, type StoredReader } from '@model-gateway/http';
import {
  expectedChat,
  prepareTurn,
  type AdmittedCall,
  type ChatDependencies,
  type NamedModels,
  type PreparedTurn,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { OwnRequest } from '@model-gateway/dialects';
import type { z } from 'zod';
import type { CacheOptions } from '../cache/answer-cache.ts';
import type { CheckConversation } from '../conversation-check.ts';
import type { CallRoute, HttpCall } from '../surface/http-call.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';

export interface TurnRouteDependencies extends ChatDependencies {
  readonly admission: HttpAdmission;
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
): CallRoute {
  const { path, schema, chatOf, complete, cache, writeError } = route;
  const { admission, checkConversation, memory } = dependencies;

  async function serve(call: HttpCall, admitted: AdmittedCall<Request>): Promise<void> {
    const { request: incoming, response, surface, startedAt, refId } = call;
    const { caller, body, resolvedModel, fallbacks, reservation } = admitted;
    const request = route.withHeaders?.(body, incoming) ?? body;
    const chat = chatOf(request);
    const conversationId = await checkConversation(caller, chat.conversation_id);
    const turn = await prepareTurn(
      {
        caller,
        surface,
        request: chat,
        own: route.ownOf(request),
        resolvedModel,
        fallbacks,
        conversationId,
        history: 'client',
        refId,
        startedAt,
        reservation,
        trace: call.log.trace,
        signal: call.signal,
        onEnd: call.onEnd,
      },
      dependencies,
    );
    const ofMemory = ['x-service-memory', turn.memory] as const;
    try {
      await route.respond({ turn, request, response, headers: call.headers.concat(ofMemory) });
    } catch (error) {
      if (!response.headersSent) response.setHeader(...ofMemory);
      throw error;
    }
  }

  return {
    method: 'POST',
    path,
    ...(writeError === undefined ? {} : { writeError }),
    async handle(call) {
      const { request, response } = call;
      if (route.requestIdHeader !== undefined)
        response.setHeader(route.requestIdHeader, requestIdOf(request, response));
      const admitted = await admission.admit(call, schema, {
        complete,
        expected: (body) => expectedChat(chatOf(body), memory),
        cache,
      });
      if (admitted === undefined) return;
      try {
        await serve(call, admitted);
      } finally {
        admitted.reservation.end();
      }
    },
  };
}
