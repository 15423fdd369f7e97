import { connect } from 'node:net';
import { chatBody } from './installation.ts';

interface BogusRequests {
  readonly port: number;
  readonly count: number;
  /** The text of one request. */
  readonly write: (index: number) => string;
}

const SENT_AT_ONCE = 100;

/** A request for an unknown path. */
export const bogusPath = (index: number): string =>
  `GET /bogus/${index}?x=${index} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** A request for an unknown model. */
export function bogusModel(key: string, index: number): string {
  const body = JSON.stringify(chatBody(`bogus-${index}`));
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: x',
    `authorization: Bearer ${key}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends requests on one connection without waiting for each response; returns the number of responses by status. */
export async function sendBogus({
  port,
  count,
  write,
}: BogusRequests): Promise<Readonly<Record<string, number>>> {
  const socket = connect(port, '127.0.0.1');
  const statuses: Record<string, number> = {};
  let unread = '';
  let received = 0;
  let sent = 0;
  const sendMore = (): void => {
    const end = Math.min(sent + SENT_AT_ONCE, count);
    let batch = '';
    for (; sent < end; sent += 1) batch += write(sent);
    socket.write(batch);
  };
  const read = (chunk: Buffer): void => {
    unread += chunk.toString('latin1');
    let end = 0;
    for (const match of unread.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      const [line, status = ''] = match;
      statuses[status] = (statuses[status] ?? 0) + 1;
      received += 1;
      end = match.index + line.length;
    }
    unread = unread.slice(end);
  };
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed after ${received} responses`)));
    socket.on('data', (chunk: Buffer) => {
      read(chunk);
      if (received === count) resolve();
      else if (received === sent) sendMore();
    });
    sendMore();
  });
  socket.destroy();
  return statuses;
}
