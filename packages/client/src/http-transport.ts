import { isResponse, parseAnswer, resultOf, type RpcResponse } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';
import type { SendOptions, TokenSource, Transport } from './transport.ts';

interface HttpTransportOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly fetch: typeof fetch;
}

/** Requests by `POST`, each with the token of the moment. */
export function createHttpTransport({ url, token, fetch }: HttpTransportOptions): Transport {
  async function post(body: unknown, { signal, sessionId }: SendOptions): Promise<unknown> {
    const bearer = await token();
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(sessionId === undefined ? {} : { 'x-session-id': sessionId }),
        },
        body: JSON.stringify(body),
        signal,
      });
      return await readAnswer(response);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof RpcConnectionError) throw error;
      throw new RpcConnectionError('network', `cannot reach ${url}`, { cause: error });
    }
  }

  return {
    async send(request, options) {
      const answer = await post(request, options);
      if (isResponse(answer)) return answer;
      throw notAnAnswer();
    },
    async sendBatch(requests, options) {
      const answer = await post(requests, options);
      // One envelope instead of many refuses the batch as a whole.
      if (isResponse(answer)) resultOf(answer);
      if (!Array.isArray(answer)) throw notAnAnswer();
      const byId = new Map(answer.filter(isResponse).map((response) => [response.id, response]));
      return requests.map(({ id }) => byId.get(id) ?? missing());
    },
    close: () => undefined,
  };
}

/** What stands before the service may answer without an envelope; the service itself gives one even to what is too large. */
async function readAnswer(response: Response): Promise<unknown> {
  const { status } = response;
  const answer = parseAnswer(await response.text(), status);
  if (isResponse(answer) || Array.isArray(answer)) return answer;
  throw new RpcConnectionError('bad-answer', `HTTP ${status} without a JSON-RPC answer`, {
    status,
  });
}

const notAnAnswer = (): RpcConnectionError =>
  new RpcConnectionError('bad-answer', 'the answer does not fit the request');

function missing(): RpcResponse {
  throw new RpcConnectionError('bad-answer', 'an answer of the batch is missing');
}
