import { chatRequestSchema } from '@model-gateway/contracts';
import { answerJsonText, clientGone, requestIdOf, type LeanRoute } from '@model-gateway/http';
import { completeChat, streamChat, type ChatDependencies } from '@model-gateway/inference';
import type { Clock, Log } from '@model-gateway/kernel';
import type { ConversationGate } from '../conversation-gate.ts';
import type { InferenceDoor } from '../inference-door.ts';
import { nameBackend } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { writeEvents } from '../openai/write-events.ts';

interface ChatRouteDependencies extends ChatDependencies {
  readonly door: InferenceDoor;
  readonly conversationGate: ConversationGate;
  readonly clock: Clock;
  readonly log: Log;
}

/** `POST /v1/chat/completions`, streamed and not. */
export function createChatRoute(dependencies: ChatRouteDependencies): LeanRoute {
  const { door, conversationGate } = dependencies;
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    async handle(request, response) {
      requestIdOf(request, response);
      const entered = await door.enter(request, response, chatRequestSchema);
      if (entered === undefined) return;
      response.setHeader('x-service-memory', 'disabled');
      const refId = serviceRefOf(request);
      const { caller, body: chat } = entered;
      const conversationId = await conversationGate(caller, chat.conversation_id);
      const signal = clientGone(response);
      const turn = { caller, surface: 'gateway', request: chat, conversationId, refId, signal };
      if (chat.stream === true) {
        const { backend, events } = await streamChat(turn, dependencies);
        nameBackend(response, backend);
        await writeEvents(response, events, signal);
      } else {
        const { backend, text } = await completeChat(turn, dependencies);
        nameBackend(response, backend);
        answerJsonText(response, 200, text);
      }
    },
  };
}
