import { EventEmitter, once } from 'node:events';
import Chrome from 'chrome-remote-interface/lib/chrome.js';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { describeError } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import { PipeSocket, type BrowserPipe } from './pipe-socket.ts';

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

/** The library's connection over a pipe: it has an option only for WebSockets, which every local user could connect to. */
class PipeClient extends Chrome {
  readonly #pipe: BrowserPipe;

  constructor(pipe: BrowserPipe, notifier: EventEmitter) {
    // With an address and a local protocol the library fetches nothing.
    super({ target: 'ws://pipe', local: true }, notifier);
    this.#pipe = pipe;
  }

  protected override async _connectToWebSocket(): Promise<void> {
    const socket = new PipeSocket(this.#pipe);
    this._ws = socket;
    socket.on('message', (text: string) => this._handleMessage(JSON.parse(text)));
    socket.on('close', () => {
      this.emit('disconnect');
      this._handleConnectionClose();
    });
  }
}

/** Connects to a browser over its pipe, which works for one connection. */
export async function connectToBrowser(pipe: BrowserPipe): Promise<CdpConnection> {
  const notifier = new EventEmitter();
  const connected = once(notifier, 'connect');
  const client = new PipeClient(pipe, notifier);
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
  await connected;

  return {
    closed,
    get lastMessageAt() {
      return lastMessageAt;
    },
    async send(method, params, sessionId) {
      try {
        const result = await client.send(method, params ?? {}, sessionId);
        lastMessageAt = performance.now();
        return result as never;
      } catch (error) {
        if (isOpen) throw new CdpError(`${method}: ${describeError(error)}`, { cause: error });
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
