import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import { sendJsonText, bearerOf, readBody, requestIdOf, type ClientIp } from '@model-gateway/http';
import { JsonRpcError } from 'jsonrpc-lite';
import type { Dispatcher } from '../protocol/dispatcher.ts';
import { errorText } from '../protocol/response.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { RPC_MESSAGE_BYTES_MAX } from './limits.ts';

interface HttpTransportDependencies {
  readonly dispatcher: Dispatcher;
  readonly sessions: Pick<Sessions, 'push'>;
  readonly clientIp: ClientIp;
}

const TOO_LARGE = new JsonRpcError(
  `Invalid request: the body is larger than ${RPC_MESSAGE_BYTES_MAX} bytes`,
  -32_600,
);
const WRONG_METHOD = new JsonRpcError('Invalid request: use POST', -32_600);

/** `POST /api/rpc`: every JSON-RPC response is HTTP 200, errors included. */
export function createHttpTransport({ dispatcher, sessions, clientIp }: HttpTransportDependencies) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestIdOf(request, response);
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      sendJsonText(response, 405, errorText('null', WRONG_METHOD));
      return;
    }
    const sessionId = attachedSession(request);
    const text = await bodyOf(request);
    if (text === undefined) {
      sendJsonText(response, 413, errorText('null', TOO_LARGE));
      return;
    }
    const credentials = { bearer: bearerOf(request), clientIp: clientIp(request) };
    const result = await dispatcher.dispatch(text, { credentials, isAnonymousSocket: false });
    if (sessionId !== undefined) {
      for (const copy of result.responses) await sessions.push(sessionId, copy);
    }
    sendJsonText(response, 200, result.text);
  };
}

/** The session that gets copies of the responses. */
function attachedSession(request: IncomingMessage): string | undefined {
  const header = request.headers['x-session-id'];
  if (header === undefined) return undefined;
  if (typeof header === 'string' && isSessionId(header)) return header;
  throw new ServiceError(
    'bad_session',
    'x-session-id must be 1 to 128 characters out of A-Z a-z 0-9 . _ : -',
  );
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  try {
    return await readBody(request, RPC_MESSAGE_BYTES_MAX);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'request_too_large') return undefined;
    throw error;
  }
}
