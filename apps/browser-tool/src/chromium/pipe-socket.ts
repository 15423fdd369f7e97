import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** The two ends of a browser's DevTools pipe. */
export interface BrowserPipe {
  readonly incoming: Readable;
  readonly outgoing: Writable;
}

const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;
const END_OF_MESSAGE = 0;
// The numbers of a WebSocket.
const OPEN = 1;
const CLOSED = 3;

/** A DevTools pipe with the interface of a WebSocket, which is what chrome-remote-interface speaks to. */
export class PipeSocket extends EventEmitter {
  readyState = OPEN;
  readonly #pipe: BrowserPipe;
  readonly #bytesMax: number;
  /** The beginning of a message that has not arrived completely. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  /** Messages that wait until the browser has read the earlier ones; undefined if none has to wait. */
  #waiting: string[] | undefined;
  #waitingChars = 0;

  constructor(pipe: BrowserPipe, bytesMax = MESSAGE_BYTES_MAX) {
    super();
    this.#pipe = pipe;
    this.#bytesMax = bytesMax;
    const close = (): void => this.close();
    pipe.incoming.on('data', (chunk: Buffer) => this.#receive(chunk));
    for (const stream of [pipe.incoming, pipe.outgoing]) {
      stream.on('error', close);
      stream.on('close', close);
    }
    pipe.incoming.on('end', close);
    pipe.outgoing.on('drain', () => this.#sendWaiting());
  }

  /** Calls `done` before the browser can answer. */
  send(text: string, done: (error?: Error) => void): void {
    if (this.readyState === CLOSED) {
      done(new Error('the pipe to the browser is closed'));
      return;
    }
    done();
    if (this.#waiting !== undefined) {
      this.#waiting.push(text);
      this.#waitingChars += text.length;
      // The browser does not read.
      if (this.#waitingChars > this.#bytesMax) this.close();
      return;
    }
    this.#write(`${text}\0`);
  }

  close(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#chunks = [];
    this.#waiting = undefined;
    this.#pipe.incoming.destroy();
    this.#pipe.outgoing.destroy();
    this.emit('close');
  }

  #write(text: string): void {
    if (!this.#pipe.outgoing.write(text)) this.#waiting = [];
  }

  #sendWaiting(): void {
    const texts = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#waitingChars = 0;
    if (texts.length > 0) this.#write(`${texts.join('\0')}\0`);
  }

  /** Looks at each byte once, however many chunks a message has. */
  #receive(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(END_OF_MESSAGE, start);
      if (end < 0) break;
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const message = Buffer.concat(this.#chunks).toString('utf8');
      this.#chunks = [];
      this.#chunkBytes = 0;
      // A listener may have closed the connection.
      if (this.readyState === CLOSED) return;
      this.emit('message', message);
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    if (part.length === 0 || this.readyState === CLOSED) return;
    this.#chunks.push(part);
    this.#chunkBytes += part.length;
    if (this.#chunkBytes > this.#bytesMax) this.close();
  }
}
