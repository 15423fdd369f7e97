import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks on loopback. */
export interface TestReceiver {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  /** What later requests are answered with. */
  answer(respond: (response: ServerResponse, request: ReceivedRequest) => void): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<TestReceiver> {
  const received: ReceivedRequest[] = [];
  let respond: (response: ServerResponse, request: ReceivedRequest) => void = (response) => {
    response.end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const { url: path = '', headers } = request;
      const whole = { path, headers, body: Buffer.concat(chunks).toString('utf8') };
      received.push(whole);
      respond(response, whole);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer(next) {
      respond = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
