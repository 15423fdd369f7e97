import CDP from 'chrome-remote-interface';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { describeError } from '@model-gateway/kernel';
import { ToolError } from '../tool-error.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** An event of the browser. */
export type CdpEvent = {
  [Method in keyof Events]: {
    readonly method: Method;
    readonly params: Events[Method][0];
    readonly sessionId: string | undefined;
  };
}[keyof Events];

/** The DevTools connection to a browser, shared by the sessions of pages, frames and workers. */
export interface CdpConnection {
  send<Method extends keyof Commands>(
    method: Method,
    params?: Commands[Method]['paramsType'][0],
    sessionId?: string,
  ): Promise<Commands[Method]['returnType']>;
  /** Returns a function that removes the listener. */
  listen(listener: (event: CdpEvent) => void): () => void;
  /** Settles when the browser disconnects. */
  readonly closed: Promise<void>;
  /** When the last message of the browser arrived, by `performance.now()`. */
  readonly lastMessageAt: number;
  close(): void;
}

/** An error response of the browser. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
}

const LOOPBACK = '127.0.0.1';

/** Connects to the browser at the port and path that it wrote to a file at its start. */
export async function connectToBrowser(port: number, path: string): Promise<CdpConnection> {
  const client = await CDP({
    host: LOOPBACK,
    port,
    target: `ws://${LOOPBACK}:${port}${path}`,
    // Otherwise it fetches the whole protocol description first.
    local: true,
  });
  const listeners = new Set<(event: CdpEvent) => void>();
  let lastMessageAt = performance.now();
  let isOpen = true;
  const closed = new Promise<void>((resolve) => {
    client.on('disconnect', () => {
      isOpen = false;
      resolve();
    });
  });
  client.on('event', (message) => {
    lastMessageAt = performance.now();
    for (const listener of listeners) listener(message as CdpEvent);
  });

  // The library's types describe an older protocol.
  const send = client.send.bind(client) as (
    method: string,
    params: object | undefined,
    sessionId: string | undefined,
  ) => Promise<unknown>;

  return {
    closed,
    get lastMessageAt() {
      return lastMessageAt;
    },
    async send(method, params, sessionId) {
      try {
        const result = await send(method, params ?? {}, sessionId);
        lastMessageAt = performance.now();
        return result as never;
      } catch (error) {
        if (isOpen && !/WebSocket/.test(describeError(error))) {
          throw new CdpError(`${method}: ${describeError(error)}`, { cause: error });
        }
        throw new ToolError('BROWSER_CRASHED', 'The browser ended while a command was running.', {
          hint: 'Call again: a new browser is started.',
          cause: error,
        });
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isOpen = false;
      void client.close().catch(() => undefined);
    },
  };
}
