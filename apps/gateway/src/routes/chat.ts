import { chatRequestSchema } from '@model-gateway/contracts';
import {
  answerJson,
  clientGone,
  readJson,
  requestIdOf,
  validated,
  type LeanRoute,
} from '@model-gateway/http';
import {
  assertModelAllowed,
  completeChat,
  streamChat,
  type ChatDependencies,
} from '@model-gateway/inference';
import type { Log } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { ConversationGate } from '../conversation-gate.ts';
import type { KeyGate } from '../key-gate.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { writeEvents } from '../openai/write-events.ts';

interface ChatRouteDependencies extends ChatDependencies {
  readonly router: Pick<Router, 'choose' | 'aliases'>;
  readonly keyGate: KeyGate;
  readonly conversationGate: ConversationGate;
  readonly bodyBytesMax: number;
  readonly log: Log;
}

/** `POST /v1/chat/completions`, streamed and not. */
export function createChatRoute(dependencies: ChatRouteDependencies): LeanRoute {
  const { keyGate, conversationGate, router, bodyBytesMax } = dependencies;
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    async handle(request, response) {
      requestIdOf(request, response);
      const caller = await keyGate(request, response);
      if (caller === undefined) return;
      const refId = serviceRefOf(request);
      const chat = validated(chatRequestSchema, await readJson(request, bodyBytesMax));
      const conversationId = await conversationGate(caller, chat.conversation_id);
      assertModelAllowed(caller, chat.model, router.aliases.resolve(chat.model));
      const signal = clientGone(response);
      const turn = { caller, surface: 'gateway', request: chat, conversationId, refId, signal };
      response.setHeader('x-service-memory', 'disabled');
      if (chat.stream === true) {
        const { backend, events } = await streamChat(turn, dependencies);
        response.setHeader('x-service-backend', backend);
        await writeEvents(response, events, signal);
      } else {
        const { backend, completion } = await completeChat(turn, dependencies);
        response.setHeader('x-service-backend', backend);
        answerJson(response, 200, completion);
      }
    },
  };
}
