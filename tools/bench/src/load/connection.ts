// A kept-alive connection that speaks HTTP by hand: an HTTP library would cost more than what is measured with it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A chat request, as a client of a gateway sends it. */
export interface ChatRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

const PATH = '/v1/chat/completions';
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** The bytes of a request. */
export function bytesOf({ headers, body }: ChatRequest): Buffer {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(text)}`,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
}

/** Answers of one connection, one after the other. */
export interface Connection {
  /** Sends a request, passes on the pieces of the answer, and returns its status: 0 for a broken connection. */
  ask(request: Buffer, onPiece?: (text: string) => void): Promise<number>;
  close(): void;
}

interface Reading {
  head: string;
  status: number;
  /** The bytes of the body that are still to come; undefined if it ends with the last chunk. */
  left: number | undefined;
  tail: string;
  readonly onPiece: ((text: string) => void) | undefined;
  readonly resolve: (status: number) => void;
}

export async function openConnection(port: number): Promise<Connection> {
  let socket = await open(port);
  let reading: Reading | undefined;
  const end = (status: number): void => {
    const { resolve } = reading ?? {};
    reading = undefined;
    resolve?.(status);
  };
  const listen = (): void => {
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (reading !== undefined && isWhole(reading, text)) end(reading.status);
    });
    socket.on('close', () => end(0));
  };
  listen();
  return {
    async ask(request, onPiece) {
      if (socket.destroyed) {
        socket = await open(port);
        listen();
      }
      return new Promise((resolve) => {
        reading = { head: '', status: 0, left: undefined, tail: '', onPiece, resolve };
        socket.write(request);
      });
    },
    close: () => void socket.destroy(),
  };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** Takes in a piece of an answer; returns whether it is the last one. */
function isWhole(reading: Reading, text: string): boolean {
  let piece = text;
  if (reading.status === 0) {
    reading.head += text;
    const at = reading.head.indexOf('\r\n\r\n');
    if (at < 0) return false;
    const head = reading.head.slice(0, at);
    piece = reading.head.slice(at + 4);
    reading.status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    reading.left = length === undefined ? undefined : Number(length);
    // The last chunk of an empty body begins with the line break of the head.
    reading.tail = '\r\n';
  }
  reading.onPiece?.(piece);
  if (reading.left !== undefined) {
    reading.left -= piece.length;
    return reading.left <= 0;
  }
  reading.tail = (reading.tail + piece).slice(-LAST_CHUNK.length);
  return reading.tail === LAST_CHUNK;
}
