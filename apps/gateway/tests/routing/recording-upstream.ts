import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A chat upstream that answers what a test says and keeps the bodies it was sent. */
export interface RecordingUpstream {
  readonly url: string;
  readonly bodies: Readonly<Record<string, unknown>>[];
  /** The next whole answer: a completion. */
  answer(completion: object): void;
  /** The next stream: its chunks, and the end mark. */
  stream(chunks: readonly object[]): void;
  close(): Promise<void>;
}

/** It serves the model `m`. */
export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const bodies: Record<string, unknown>[] = [];
  let type = 'application/json';
  let text = '{}';
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/v1/models') {
        response.end(JSON.stringify({ data: [{ id: 'm' }] }));
        return;
      }
      bodies.push(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
      response.setHeader('content-type', type);
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    answer(completion) {
      type = 'application/json';
      text = JSON.stringify({ object: 'chat.completion', created: 1, model: 'm', ...completion });
    },
    stream(chunks) {
      type = 'text/event-stream';
      text = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
        .map((data) => `data: ${data}\n\n`)
        .join('');
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
