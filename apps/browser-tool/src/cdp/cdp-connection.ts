import CDP from 'chrome-remote-interface';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { describeError } from '@model-gateway/kernel';
import { ToolError } from '../tool-error.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** A message that the browser sent by itself. */
export type CdpEvent = {
  [Method in keyof Events]: {
    readonly method: Method;
    readonly params: Events[Method][0];
    readonly sessionId: string | undefined;
  };
}[keyof Events];

/** One connection to a browser; sessions of pages, frames and workers run through it side by side. */
export interface CdpConnection {
  send<Method extends keyof Commands>(
    method: Method,
    params?: Commands[Method]['paramsType'][0],
    sessionId?: string,
  ): Promise<Commands[Method]['returnType']>;
  /** Answers how to stop listening. */
  listen(listener: (event: CdpEvent) => void): () => void;
  /** Settles when the browser is gone. */
  readonly closed: Promise<void>;
  /** When the browser last said anything, by `performance.now()`. */
  readonly lastMessageAt: number;
  close(): void;
}

/** What the browser answered instead of a result. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
}

const LOOPBACK = '127.0.0.1';

/** Connects to the browser itself, by the port and path that it wrote down at its start. */
export async function connectToBrowser(port: number, path: string): Promise<CdpConnection> {
  const client = await CDP({
    host: LOOPBACK,
    port,
    target: `ws://${LOOPBACK}:${port}${path}`,
    // Otherwise it asks the browser for its whole protocol first.
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

  // The library's own types describe an older protocol.
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
        const answer = await send(method, params ?? {}, sessionId);
        lastMessageAt = performance.now();
        return answer as never;
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
