import { isResponse, parseAnswer, type RpcRequest, type RpcResponse } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';

/** The part of a WebSocket that is used here; the one of browsers and that of the `ws` package both have it. */
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
  /** Sends requests in one frame; the answers come in the order of the requests. */
  exchange(
    frame: RpcRequest | readonly RpcRequest[],
    signal: AbortSignal,
  ): Promise<readonly RpcResponse[]>;
  /** Closes as soon as nothing is in flight. */
  retire(): void;
  close(): void;
}

interface Waiting {
  resolve(response: RpcResponse): void;
  reject(reason: unknown): void;
}

const NORMAL_CLOSURE = 1000;

export function openWebSocketConnection(
  socket: WebSocketLike,
  token: string | undefined,
): WebSocketConnection {
  const waiting = new Map<unknown, Waiting>();
  let isClosed = false;
  let isRetired = false;

  function fail(reason: RpcConnectionError): void {
    isClosed = true;
    for (const call of waiting.values()) call.reject(reason);
    waiting.clear();
  }

  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('close', ({ code }) => {
      const reason = new RpcConnectionError('closed', `the connection was closed (${code})`);
      reject(reason);
      fail(reason);
    });
  });
  // A connection that fails says so to its calls; it closes right after.
  opened.catch(() => undefined);
  socket.addEventListener('error', () => undefined);
  socket.addEventListener('message', ({ data }) => {
    const responses = readFrame(data);
    if (responses === undefined) {
      fail(new RpcConnectionError('bad-answer', 'a frame is no JSON-RPC answer'));
      socket.close(NORMAL_CLOSURE);
      return;
    }
    for (const response of responses) {
      waiting.get(response.id)?.resolve(response);
      waiting.delete(response.id);
    }
    closeWhenIdle();
  });

  function closeWhenIdle(): void {
    if (isRetired && waiting.size === 0) socket.close(NORMAL_CLOSURE);
  }

  function answerTo(id: string): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
    });
  }

  return {
    token,
    get acceptsCalls() {
      return !isClosed && !isRetired;
    },
    async exchange(frame, signal) {
      const requests = 'length' in frame ? frame : [frame];
      const giveUp = (): void => {
        for (const { id } of requests) {
          waiting.get(id)?.reject(signal.reason);
          waiting.delete(id);
        }
        closeWhenIdle();
      };
      const answers = Promise.all(requests.map(({ id }) => answerTo(id)));
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      opened.then(
        () => {
          // What was given up before the connection stood is not sent at all.
          if (!signal.aborted) socket.send(JSON.stringify(frame));
        },
        () => undefined,
      );
      try {
        return await answers;
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
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
    const answer = parseAnswer(String(data));
    const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
    return answers.every(isResponse) ? answers : undefined;
  } catch {
    return undefined;
  }
}
