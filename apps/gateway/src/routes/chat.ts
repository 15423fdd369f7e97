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
import type { Clock, Log } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { ConversationGate } from '../conversation-gate.ts';
import type { KeyGate } from '../key-gate.ts';
import { nameBackend } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { writeEvents } from '../openai/write-events.ts';

interface ChatRouteDependencies extends ChatDependencies {
  readonly router: Pick<Router, 'choose' | 'aliases'>;
  readonly keyGate: KeyGate;
  readonly conversationGate: ConversationGate;
  readonly bodyBytesMax: number;
  readonly clock: Clock;
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
      response.setHeader('x-service-memory', 'disabled');
      const refId = serviceRefOf(request);
      const chat = validated(chatRequestSchema, await readJson(request, bodyBytesMax));
      const conversationId = await conversationGate(caller, chat.conversation_id);
      assertModelAllowed(caller, chat.model, router.aliases.resolve(chat.model));
      const signal = clientGone(response);
      const turn = { caller, surface: 'gateway', request: chat, conversationId, refId, signal };
      if (chat.stream === true) {
        const { backend, events } = await streamChat(turn, dependencies);
        nameBackend(response, backend);
        await writeEvents(response, events, signal);
      } else {
        const { backend, completion } = await completeChat(turn, dependencies);
        nameBackend(response, backend);
        answerJson(response, 200, completion);
      }
    },
  };
}
