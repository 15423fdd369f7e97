import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, bearerOf, readBody, requestIdOf } from '@model-gateway/http';
import type { Dispatcher } from '../protocol/dispatcher.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** `POST /api/rpc`: every JSON-RPC answer is HTTP 200, errors included. */
export function createHttpTransport({ dispatcher }: { readonly dispatcher: Dispatcher }) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestIdOf(request, response);
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      answerJson(response, 405, {
        error: { message: 'use POST', type: 'invalid_request', code: 'method_not_allowed' },
      });
      return;
    }
    const text = await readBody(request, BODY_BYTES_MAX);
    const bearer = bearerOf(request);
    answerJson(
      response,
      200,
      await dispatcher.answer(text, { bearer, clientIp: request.socket.remoteAddress ?? '' }),
    );
  };
}
