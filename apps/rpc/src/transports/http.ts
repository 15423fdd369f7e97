import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from '@model-gateway/accounts';
import { isSessionId, ServiceError, type ErrorCode } from '@model-gateway/contracts';
import {
  sendJsonText,
  bearerOf,
  readBody,
  requestIdOf,
  type BodyMemory,
} from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';
import type { Dispatcher } from '../protocol/dispatcher.ts';
import { errorText } from '../protocol/response.ts';
import { toRpcError } from '../protocol/rpc-error.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { ClientOf } from './client-of.ts';
import { RPC_ADMIN_MESSAGE_BYTES_MAX, RPC_MESSAGE_BYTES_MAX } from './limits.ts';

interface HttpTransportDependencies {
  readonly dispatcher: Dispatcher;
  readonly sessions: Pick<Sessions, 'push' | 'pushTo'>;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
  readonly clientOf: ClientOf;
  readonly bodyMemory: BodyMemory;
  /** Whether the copies of an authenticated call reach only listeners that are authenticated as the same user. */
  readonly sessionAuth: boolean;
  readonly log: Log;
}

const WRONG_METHOD = new JsonRpcError('Invalid request: use POST', -32_600);

/** `POST /api/rpc`: every JSON-RPC response is HTTP 200, errors included. */
export function createHttpTransport(dependencies: HttpTransportDependencies) {
  const { dispatcher, sessions, accounts, isAdminToken, clientOf, sessionAuth } = dependencies;
  const { bodyMemory: memory, log } = dependencies;

  /** How the copies of a call are pushed. Decided before the call, which may end its own sign-in. */
  async function pushOf(
    sessionId: string,
    bearer: string | undefined,
  ): Promise<(copy: string) => Promise<void>> {
    const pushToAll = (copy: string): Promise<void> => sessions.push(sessionId, copy);
    if (!sessionAuth || bearer === undefined) return pushToAll;
    // No listener can prove to be the operator.
    if (isAdminToken(bearer)) return async () => undefined;
    const user = (await accounts.authenticate(bearer))?.user;
    return user === undefined ? pushToAll : (copy) => sessions.pushTo(user.id, sessionId, copy);
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestIdOf(request, response);
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      sendJsonText(response, 405, errorText('null', WRONG_METHOD));
      return;
    }
    const sessionId = attachedSession(request);
    const bearer = bearerOf(request);
    const bytesMax = isAdminToken(bearer) ? RPC_ADMIN_MESSAGE_BYTES_MAX : RPC_MESSAGE_BYTES_MAX;
    const credentials = { bearer, ...clientOf(request) };
    // Whose token it is, is not known yet.
    const counted = { memory, owner: credentials.clientIp, response };
    const text = await bodyOf(() => readBody(request, bytesMax, counted), log);
    if (typeof text !== 'string') {
      sendJsonText(response, text.status, errorText('null', text.error), text.headers);
      return;
    }
    const push = sessionId === undefined ? undefined : await pushOf(sessionId, bearer);
    const result = await dispatcher.dispatch(text, {
      credentials,
      isAnonymousSocket: false,
      requestId: requestIdOf(request, response),
    });
    if (push !== undefined) for (const copy of result.copies) await push(copy);
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

/** A body that was not read. */
interface RefusedBody {
  readonly status: number;
  readonly error: JsonRpcError;
  readonly headers: readonly string[];
}

const REFUSED_STATUSES: Partial<Record<ErrorCode, number>> = {
  request_too_large: 413,
  unsupported_encoding: 415,
};

/** The body; an error when it is too large, has an unknown encoding or there is no memory for it. */
async function bodyOf(read: () => Promise<string>, log: Log): Promise<string | RefusedBody> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'overloaded') {
      const { retry_after_secs: retrySecs } = error.details ?? {};
      const headers = ['retry-after', String(retrySecs)];
      return { status: 503, error: toRpcError(error, log), headers };
    }
    const status = REFUSED_STATUSES[error.code];
    if (status === undefined) throw error;
    const refusal = new JsonRpcError(`Invalid request: ${error.message}`, -32_600);
    return { status, error: refusal, headers: [] };
  }
}
