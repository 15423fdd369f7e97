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
  /** Used for calls with a session that gets a copy of the response, which a socket does not support. */
  readonly http: Transport;
}

/** Sends requests over one socket, opened by the first call and by the first call after a lost connection. */
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
      const [response] = await exchange(request, sending);
      if (response === undefined) throw new RpcConnectionError('bad-answer', 'no response');
      return response;
    },
    async sendBatch(requests, sending) {
      if (sending.sessionId !== undefined) return http.sendBatch(requests, sending);
      return exchange(requests, sending);
    },
    close: () => connection?.close(),
  };
}
