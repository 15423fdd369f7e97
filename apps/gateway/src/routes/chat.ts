import { chatRequestSchema } from '@model-gateway/contracts';
import { answerJsonText, clientGone, requestIdOf, type LeanRoute } from '@model-gateway/http';
import {
  completeChat,
  readyTurn,
  streamChat,
  type ChatDependencies,
  type ChatTurn,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { ConversationGate } from '../conversation-gate.ts';
import type { InferenceDoor } from '../inference-door.ts';
import { nameBackend } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { writeEvents } from '../openai/write-events.ts';

interface ChatRouteDependencies extends ChatDependencies {
  readonly door: InferenceDoor;
  readonly conversationGate: ConversationGate;
  readonly clock: Clock;
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
      const refId = serviceRefOf(request);
      const { caller, body: chat } = entered;
      const conversationId = await conversationGate(caller, chat.conversation_id);
      const signal = clientGone(response);
      const asked: ChatTurn = {
        caller,
        surface: 'gateway',
        request: chat,
        conversationId,
        history: 'client',
        refId,
        signal,
      };
      const assembled = readyTurn(asked, dependencies);
      const turn = assembled instanceof Promise ? await assembled : assembled;
      response.setHeader('x-service-memory', turn.memory);
      if (chat.stream === true) {
        const streamed = await streamChat(turn, dependencies);
        nameBackend(response, streamed.backend);
        await writeEvents(response, streamed, signal);
      } else {
        const { backend, text } = await completeChat(turn, dependencies);
        nameBackend(response, backend);
        answerJsonText(response, 200, text);
      }
    },
  };
}
