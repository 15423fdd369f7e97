import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A process behind the front. */
export interface FrontTarget {
  /** Undefined while the process is down. */
  readonly url: string | undefined;
}

/** A load balancer: sends requests only to processes whose readiness probe answers 200. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

const PROBE_INTERVAL_MS = 200;
const PROBE_TIMEOUT_MS = 1_000;

export async function startFront(targets: readonly FrontTarget[]): Promise<Front> {
  const ready = new Set<string>();
  let next = 0;

  async function probe({ url }: FrontTarget): Promise<void> {
    if (url === undefined) return;
    try {
      const response = await fetch(`${url}/readyz`, {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (response.status === 200) ready.add(url);
      else ready.delete(url);
    } catch {
      ready.delete(url);
    }
  }
  const probeAll = (): Promise<unknown> => Promise.all(targets.map(probe));
  const timer = setInterval(() => void probeAll(), PROBE_INTERVAL_MS);

  function choose(): string | undefined {
    const urls = targets.flatMap(({ url }) => (url !== undefined && ready.has(url) ? [url] : []));
    next += 1;
    return urls[next % urls.length];
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const url = choose();
    if (url === undefined) return void response.writeHead(503, { 'x-front': 'no target' }).end();
    // A new connection each time: a kept one may be closed by a stopping process just when it is used.
    const call = httpRequest(`${url}${request.url ?? ''}`, {
      method: request.method ?? 'GET',
      headers: { ...request.headers, connection: 'close' },
      agent: false,
    });
    call.on('error', () => {
      if (response.headersSent) return void response.destroy();
      // A refused connection is known before the next probe.
      ready.delete(url);
      response.writeHead(502, { 'x-front': 'the process did not answer' }).end();
    });
    call.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('close', () => {
        if (!answer.complete) response.destroy();
      });
    });
    response.on('close', () => call.destroy());
    request.pipe(call);
  }

  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await probeAll();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      clearInterval(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
