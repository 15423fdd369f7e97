import { isResponse, parseJson, resultOf, type RpcResponse } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';
import type { SendOptions, TokenSource, Transport } from './transport.ts';

interface HttpTransportOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly fetch: typeof fetch;
}

/** Sends requests by `POST`, each with the current token. */
export function createHttpTransport({ url, token, fetch }: HttpTransportOptions): Transport {
  async function post(message: unknown, { signal, sessionId }: SendOptions): Promise<unknown> {
    const bearer = await token();
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(sessionId === undefined ? {} : { 'x-session-id': sessionId }),
        },
        body: JSON.stringify(message),
        signal,
      });
      return await readBody(response);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof RpcConnectionError) throw error;
      throw new RpcConnectionError('network', `cannot reach ${url}`, { cause: error });
    }
  }

  return {
    async send(request, options) {
      const body = await post(request, options);
      if (isResponse(body)) return body;
      throw unexpectedBody();
    },
    async sendBatch(requests, options) {
      const body = await post(requests, options);
      // One envelope instead of many refuses the batch as a whole.
      if (isResponse(body)) resultOf(body);
      if (!Array.isArray(body)) throw unexpectedBody();
      const byId = new Map(body.filter(isResponse).map((response) => [response.id, response]));
      return requests.map(({ id }) => byId.get(id) ?? missing());
    },
    close: () => undefined,
  };
}

/** A proxy may respond without an envelope; the service itself always sends one, even when a request is too large. */
async function readBody(response: Response): Promise<unknown> {
  const { status } = response;
  const body = parseJson(await response.text(), status);
  if (isResponse(body) || Array.isArray(body)) return body;
  throw new RpcConnectionError('bad-answer', `HTTP ${status} without a JSON-RPC response`, {
    status,
  });
}

const unexpectedBody = (): RpcConnectionError =>
  new RpcConnectionError('bad-answer', 'the response does not match the request');

function missing(): RpcResponse {
  throw new RpcConnectionError('bad-answer', 'a response of the batch is missing');
}
