import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a recorded server got. */
interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Undefined without a body. */
  readonly body: unknown;
  /** The body as it was sent. */
  readonly text: string;
}

interface RecordedAnswer {
  readonly status?: number;
  readonly type?: string;
  /** The parts are written one by one. */
  readonly body: string | readonly string[];
}

/** An HTTP server that answers what a test has recorded of a real API, and keeps what it was sent. */
export interface RecordedServer {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** The answer to each further request whose path contains this text. */
  answer(path: string, answer: RecordedAnswer): void;
  close(): Promise<void>;
}

export async function startRecordedServer(): Promise<RecordedServer> {
  const requests: RecordedRequest[] = [];
  const answers = new Map<string, RecordedAnswer>();
  // Clients keep connections for as long as they like: one that ends while a request is sent fails that request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const text = Buffer.concat(parts).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      requests.push({ method, url, headers, body, text });
      const found = [...answers].findLast(([path]) => url.includes(path))?.[1];
      response.statusCode = found?.status ?? (found === undefined ? 404 : 200);
      response.setHeader('content-type', found?.type ?? 'application/json');
      const answer = found?.body ?? '{}';
      for (const part of typeof answer === 'string' ? [answer] : answer) response.write(part);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer(path, answer) {
      answers.delete(path);
      answers.set(path, answer);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
