import type { RpcRequest } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';
import type { SendOptions, TokenSource, Transport } from './transport.ts';
import {
  openWebSocketConnection,
  type WebSocketConnection,
  type WebSocketConstructor,
} from './websocket-connection.ts';

interface WebSocketTransportOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly WebSocket: WebSocketConstructor;
  /** Carries what a socket cannot: a session that shall get a copy of the answer. */
  readonly http: Transport;
}

/** Requests over one socket, opened by the first call and again by the first call after it was lost. */
export function createWebSocketTransport(options: WebSocketTransportOptions): Transport {
  const { url, token, WebSocket, http } = options;
  let connection: WebSocketConnection | undefined;

  async function connected(): Promise<WebSocketConnection> {
    const current = await token();
    if (connection?.acceptsCalls === true && connection.token === current) {
      return connection;
    }
    // A socket keeps the token that it was opened with, so a new token needs a new socket.
    connection?.retire();
    const query = current === undefined ? '' : `?token=${encodeURIComponent(current)}`;
    connection = openWebSocketConnection(new WebSocket(`${url}${query}`), current);
    return connection;
  }

  async function exchange(frame: RpcRequest | readonly RpcRequest[], { signal }: SendOptions) {
    const current = await connected();
    return current.exchange(frame, signal);
  }

  return {
    async send(request, sending) {
      if (sending.sessionId !== undefined) return http.send(request, sending);
      const [answer] = await exchange(request, sending);
      if (answer === undefined) throw new RpcConnectionError('bad-answer', 'there is no answer');
      return answer;
    },
    async sendBatch(requests, sending) {
      if (sending.sessionId !== undefined) return http.sendBatch(requests, sending);
      return exchange(requests, sending);
    },
    close: () => connection?.close(),
  };
}
