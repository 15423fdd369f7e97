declare module 'chrome-remote-interface/lib/chrome.js' {
  import type { EventEmitter } from 'node:events';

  /** The connection of the library, as far as the pipe needs it; the published types do not describe it. */
  export default class Chrome extends EventEmitter {
    protected _ws: object;
    constructor(options: { readonly target: string; readonly local: true }, notifier: EventEmitter);
    protected _connectToWebSocket(): Promise<void>;
    protected _handleConnectionClose(): void;
    protected _handleMessage(message: unknown): void;
    send(method: string, params: object, sessionId?: string): Promise<unknown>;
    close(): Promise<void>;
  }
}
