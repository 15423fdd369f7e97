import { once } from 'node:events';
import { Agent, createServer, request as ask, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil, type TestProcess } from '@model-gateway/testkit';

/** Like a Service of a cluster: forwards each request to the next ready pod, without retries. */
export interface Service {
  readonly url: string;
  /** Adds a pod, and resolves when it gets requests. */
  add(pod: TestProcess): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 500;
const READY_TIMEOUT_MS = 180_000;

export async function startService(readyPath: string): Promise<Service> {
  const ready: TestProcess[] = [];
  const agent = new Agent({ keepAlive: true });
  let isClosed = false;
  let turn = 0;

  function next(): TestProcess | undefined {
    turn += 1;
    return ready[turn % ready.length];
  }

  /** Polls the readiness of a pod until it exits. */
  async function pollReadiness(pod: TestProcess): Promise<void> {
    let hasExited = false;
    void pod.exited.then(() => (hasExited = true));
    while (!hasExited && !isClosed) {
      const isReady = await isReadyNow(`${pod.url}${readyPath}`);
      const place = ready.indexOf(pod);
      if (isReady && place < 0) ready.push(pod);
      if (!isReady && place >= 0) ready.splice(place, 1);
      await sleep(POLL_MS);
    }
  }

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const pod = next();
    if (pod === undefined) return void response.writeHead(503).end('no pod is ready');
    const forwarded = ask(
      { ...targetOf(pod, request), agent, method: request.method, headers: request.headers },
      (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, withoutHopHeaders(upstream));
        upstream.pipe(response);
        upstream.once('error', () => response.destroy());
      },
    );
    forwarded.once('error', (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`${pod.url}: ${error.message}`);
    });
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  server.on('upgrade', (request, socket, head) => {
    const pod = next();
    if (pod === undefined) return void socket.destroy();
    const forwarded = connect({ host: '127.0.0.1', port: pod.port }, () => {
      const lines = request.rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [`${name}: ${request.rawHeaders[index + 1]}`] : [],
      );
      forwarded.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      forwarded.write(head);
      forwarded.pipe(socket).pipe(forwarded);
    });
    for (const [one, other] of [
      [forwarded, socket],
      [socket, forwarded],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(pod) {
      void pollReadiness(pod);
      await waitUntil(() => ready.includes(pod), { timeoutMs: READY_TIMEOUT_MS });
    },
    async close() {
      isClosed = true;
      agent.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const targetOf = ({ port }: TestProcess, { url }: IncomingMessage) => ({
  host: '127.0.0.1',
  port,
  path: url,
});

/** Removes the headers that apply only to the connection with the pod. */
function withoutHopHeaders({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const { connection: _connection, 'keep-alive': _keepAlive, ...others } = headers;
  return others;
}

async function isReadyNow(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
