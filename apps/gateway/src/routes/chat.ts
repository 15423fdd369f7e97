import type { IncomingMessage, ServerResponse } from 'node:http';
import { chatRequestSchema, type ChatRequest } from '@model-gateway/contracts';
import { sendJsonText, disconnectSignal, type LeanRoute } from '@model-gateway/http';
import {
  completeChat,
  errorEvent,
  expectedChat,
  prepareTurn,
  streamChat,
  type ChatDependencies,
  type ChatTurn,
  type PreparedTurn,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { StatefulFields } from '../cache/stateless.ts';
import { setLimitHeaders, type LimitHeaders } from '../limit-headers.ts';
import type { CheckConversation } from '../conversation-check.ts';
import type { AuthorizedRequest } from '../authorized-request.ts';
import type { RequestAuthorizer } from '../request-authorizer.ts';
import { ignoredHeader } from '../dialects/ignored-header.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { DONE, KEEP_ALIVE, sendEvents } from '../openai/write-events.ts';

interface ChatRouteDependencies extends ChatDependencies {
  readonly authorizer: RequestAuthorizer;
  readonly checkConversation: CheckConversation;
  readonly clock: Clock;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
}

const memoryHeader = ({ memory }: PreparedTurn): readonly [string, string] => [
  'x-service-memory',
  memory,
];

const CACHED_CHAT = { state: (chat: ChatRequest): StatefulFields => chat };

/** Most requests leave nothing out. */
function addIgnored(headers: string[], ignored: readonly string[] | undefined): void {
  if (ignored !== undefined) headers.push(...ignoredHeader(ignored));
}

/** `POST /v1/chat/completions`, streamed and not. */
export function createChatRoute(dependencies: ChatRouteDependencies): LeanRoute {
  const { authorizer, checkConversation, silenceMs } = dependencies;

  async function respond(
    turn: PreparedTurn,
    response: ServerResponse,
    limitHeaders: LimitHeaders,
  ): Promise<void> {
    if (turn.request.stream === true) {
      const options = {
        headers: limitHeaders.concat(memoryHeader(turn)),
        disconnected: turn.signal,
        silenceMs,
        alive: () => KEEP_ALIVE,
        fail: errorEvent,
      };
      await sendEvents(response, options, async (sink) => {
        const streamed = await streamChat(turn, dependencies, (sign) => sink.pass(sign));
        const headers = [...routeHeaders(streamed)];
        addIgnored(headers, streamed.ignored);
        sink.open(headers);
        return (await streamed.deliver((events) => sink.write(events))) ?? DONE;
      });
    } else {
      const answer = await completeChat(turn, dependencies);
      const headers = limitHeaders.concat(memoryHeader(turn), routeHeaders(answer));
      addIgnored(headers, answer.ignored);
      sendJsonText(response, 200, answer.text ?? JSON.stringify(answer.completion), headers);
    }
  }

  async function serve(
    authorized: AuthorizedRequest<ChatRequest>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { caller, body: chat, resolvedModel, fallbacks, startedAt, reservation } = authorized;
    const { trace } = authorized;
    const refId = serviceRefOf(request);
    const checking = checkConversation(caller, chat.conversation_id);
    const conversationId = checking === undefined ? undefined : await checking;
    const signal = disconnectSignal(response);
    const requested: ChatTurn = {
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
      trace,
      signal,
    };
    const assembled = prepareTurn(requested, dependencies);
    const turn = assembled instanceof Promise ? await assembled : assembled;
    try {
      await respond(turn, response, authorized.limitHeaders);
    } catch (error) {
      if (!response.headersSent) response.setHeader(...memoryHeader(turn));
      throw error;
    }
  }

  return {
    method: 'POST',
    path: '/v1/chat/completions',
    async handle(request, response) {
      const authorized = await authorizer.authorizeRequest(request, response, chatRequestSchema, {
        expected: (chat) => expectedChat(chat, dependencies.memory),
        cache: CACHED_CHAT,
      });
      if (authorized === undefined) return;
      try {
        await serve(authorized, request, response);
      } catch (error) {
        setLimitHeaders(response, authorized.limitHeaders);
        throw error;
      } finally {
        authorized.reservation.end();
      }
    },
  };
}
