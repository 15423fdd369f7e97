import { createPendingCalls } from '@model-gateway/json-rpc';
import { isResponse, parseJson, type RpcRequest, type RpcResponse } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';

/** The part of a WebSocket that is used here; browsers and the `ws` package both provide it. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** One socket, with many calls in flight. */
export interface WebSocketConnection {
  readonly token: string | undefined;
  /** Whether further calls may use it. */
  readonly acceptsCalls: boolean;
  /** Sends requests in one frame; resolves with the responses in the order of the requests. */
  exchange(
    frame: RpcRequest | readonly RpcRequest[],
    signal: AbortSignal,
  ): Promise<readonly RpcResponse[]>;
  /** Closes as soon as no call is in flight. */
  retire(): void;
  close(): void;
}

const NORMAL_CLOSURE = 1000;

export function openWebSocketConnection(
  socket: WebSocketLike,
  token: string | undefined,
): WebSocketConnection {
  const calls = createPendingCalls<RpcResponse['id'], RpcResponse>();
  let isClosed = false;
  let isRetired = false;

  function fail(reason: RpcConnectionError): void {
    isClosed = true;
    calls.failAll(reason);
  }

  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('close', ({ code }) => {
      const reason = new RpcConnectionError('closed', `the connection was closed (${code})`);
      reject(reason);
      fail(reason);
    });
  });
  // Calls get the failure from the close event, which follows an error.
  opened.catch(() => undefined);
  socket.addEventListener('error', () => undefined);
  socket.addEventListener('message', ({ data }) => {
    const responses = readFrame(data);
    if (responses === undefined) {
      fail(new RpcConnectionError('bad-answer', 'a frame is not a JSON-RPC response'));
      socket.close(NORMAL_CLOSURE);
      return;
    }
    for (const response of responses) calls.settle(response.id, response);
    closeWhenIdle();
  });

  function closeWhenIdle(): void {
    if (isRetired && calls.size === 0) socket.close(NORMAL_CLOSURE);
  }

  return {
    token,
    get acceptsCalls() {
      return !isClosed && !isRetired;
    },
    async exchange(frame, signal) {
      const requests = 'length' in frame ? frame : [frame];
      const abandon = (): void => {
        for (const { id } of requests) calls.fail(id, signal.reason);
        closeWhenIdle();
      };
      const responses = Promise.all(
        requests.map(({ id }) => calls.add(id, (response) => response)),
      );
      signal.addEventListener('abort', abandon, { once: true });
      if (signal.aborted) abandon();
      opened.then(
        () => {
          // Requests that were aborted before the connection opened are not sent.
          if (!signal.aborted) socket.send(JSON.stringify(frame));
        },
        () => undefined,
      );
      return responses.finally(() => signal.removeEventListener('abort', abandon));
    },
    retire() {
      isRetired = true;
      closeWhenIdle();
    },
    close: () => socket.close(NORMAL_CLOSURE),
  };
}

function readFrame(data: unknown): readonly RpcResponse[] | undefined {
  try {
    const message = parseJson(String(data));
    const messages: readonly unknown[] = Array.isArray(message) ? message : [message];
    return messages.every(isResponse) ? messages : undefined;
  } catch {
    return undefined;
  }
}
