import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to a held upstream, which answers it only as the test says. */
export interface HeldRequest {
  /** Sends a part of a stream; the first one begins the answer. */
  write(text: string): void;
  end(text?: string): void;
  /** Sends the text again and again, until the gateway has left. */
  flood(text: string): Promise<void>;
  /** Answers in JSON. */
  send(status: number, body: object): void;
  /** Resolves when the gateway has left it. */
  readonly left: Promise<void>;
}

/** An upstream that keeps quiet until the test lets it speak. */
export interface HeldUpstream {
  readonly url: string;
  /** The next request, in the order of their arrival. */
  next(): Promise<HeldRequest>;
  close(): Promise<void>;
}

export async function startHeldUpstream(model = 'm'): Promise<HeldUpstream> {
  const arrived: HeldRequest[] = [];
  const waiting: ((request: HeldRequest) => void)[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume();
    if (request.method === 'GET') {
      response.end(JSON.stringify({ data: [{ id: model, type: 'model' }], has_more: false }));
      return;
    }
    const held = heldRequest(response);
    request.on('end', () => {
      const take = waiting.shift();
      if (take === undefined) arrived.push(held);
      else take(held);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    next() {
      const request = arrived.shift();
      if (request !== undefined) return Promise.resolve(request);
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function heldRequest(response: ServerResponse): HeldRequest {
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  };
  const left = new Promise<void>((resolve) => {
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
  return {
    left,
    write(text) {
      begin();
      response.write(text);
    },
    end(text) {
      begin();
      response.end(text);
    },
    async flood(text) {
      begin();
      while (!response.destroyed) {
        if (!response.write(text)) await Promise.race([once(response, 'drain'), left]);
      }
    },
    send(status, body) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    },
  };
}
