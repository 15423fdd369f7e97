import { request as startRequest, type IncomingMessage } from 'node:http';
import { ANSWER_BYTES_MAX } from './check-answer.ts';

/** How a request ended. */
export interface Answer {
  readonly outcome: 'answered' | 'broken off' | 'too large' | 'no answer';
  /** 0 without an answer. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, in the pieces that are written. */
  readonly pieces: readonly Buffer[];
  /** Leaves before the announced body is complete. */
  readonly hangsUp?: boolean;
  /** Leaves when the answer has begun: an event stream does not end. */
  readonly firstPieceOnly?: boolean;
  /** Leaves when the headers of the answer are there: an event stream may stay empty. */
  readonly headersOnly?: boolean;
}

/** Far more than any answer takes on a loaded machine; what takes longer hangs. */
export const ANSWER_TIMEOUT_MS = 60_000;

/** Sends a request as it is, valid or not, and reads a bounded answer. */
export function send(baseUrl: string, message: Message): Promise<Answer> {
  const { method, path, headers, pieces, hangsUp = false, firstPieceOnly, headersOnly } = message;
  const { hostname, port } = new URL(baseUrl);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let response: IncomingMessage | undefined;
    const request = startRequest({
      hostname,
      port,
      method,
      path,
      headers: {
        ...(pieces.length === 0 ? {} : { 'content-length': length + (hangsUp ? 10 : 0) }),
        ...headers,
      },
    });
    const timer = setTimeout(() => end('no answer'), ANSWER_TIMEOUT_MS);
    const end = (outcome: Answer['outcome']): void => {
      clearTimeout(timer);
      resolve({
        outcome,
        status: response?.statusCode ?? 0,
        headers: response?.headers ?? {},
        body: Buffer.concat(chunks),
      });
      request.destroy();
    };
    request.on('error', (error: NodeJS.ErrnoException) => {
      // Nothing listens any more: the process has ended.
      if (error.code === 'ECONNREFUSED') {
        clearTimeout(timer);
        reject(error);
      } else end('broken off');
    });
    request.on('response', (incoming) => {
      response = incoming;
      if (headersOnly === true && incoming.statusCode === 200) {
        end('answered');
        return;
      }
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) end('too large');
        else chunks.push(chunk);
        if (firstPieceOnly === true && incoming.statusCode === 200) end('answered');
      });
      incoming.on('end', () => end('answered'));
      incoming.on('error', () => end('broken off'));
      incoming.on('close', () => end('broken off'));
    });
    void (async () => {
      for (const piece of pieces) {
        const written = new Promise((go) => request.write(piece, go));
        // Separate segments, as far as the socket allows; and the connection is not closed before something arrived.
        if (pieces.length > 1 || hangsUp) await written;
      }
      if (hangsUp) end('broken off');
      else request.end();
    })();
  });
}
