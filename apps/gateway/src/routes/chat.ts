import { chatRequestSchema, ServiceError } from '@model-gateway/contracts';
import {
  answerJson,
  clientGone,
  readJson,
  requestIdOf,
  validated,
  type LeanRoute,
} from '@model-gateway/http';
import { completeChat, type Meter, type RequestCounter } from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { KeyGate } from '../key-gate.ts';
import { serviceRefOf } from '../openai/service-ref.ts';

interface ChatRouteDependencies {
  readonly keyGate: KeyGate;
  readonly router: Router;
  readonly meter: Meter;
  readonly requests: RequestCounter;
  readonly bodyBytesMax: number;
}

/** `POST /v1/chat/completions`. */
export function createChatRoute({
  keyGate,
  router,
  meter,
  requests,
  bodyBytesMax,
}: ChatRouteDependencies): LeanRoute {
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    async handle(request, response) {
      requestIdOf(request, response);
      const caller = await keyGate(request, response);
      if (caller === undefined) return;
      const refId = serviceRefOf(request);
      const chat = validated(chatRequestSchema, await readJson(request, bodyBytesMax));
      if (chat.stream === true) {
        throw new ServiceError(
          'not_available_yet',
          'streaming is not available yet; send stream: false',
        );
      }
      const signal = clientGone(response);
      const turn = { caller, surface: 'gateway', request: chat, refId, signal };
      const answer = await completeChat(turn, { router, meter, requests });
      response.setHeader('x-service-backend', answer.backend);
      answerJson(response, 200, answer.completion);
    },
  };
}
