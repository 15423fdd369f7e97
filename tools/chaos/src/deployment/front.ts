import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process behind the front. */
export interface FrontTarget {
  /** Undefined while the process is down. */
  readonly url: string | undefined;
}

/**
 * A load balancer: sends requests over kept connections to processes whose readiness probe answers 200, or while there
 * are none, to those that answer no probe.
 */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

const PROBE_INTERVAL_MS = 200;
const PROBE_TIMEOUT_MS = 1_000;
const SILENT_PROBES_MAX = 3;
/** Longer than a run: a connection that the front closes just when its client sends a request would be a failure. */
const KEEP_ALIVE_MS = 3_600_000;

export async function startFront(targets: readonly FrontTarget[]): Promise<Front> {
  const ready = new Set<string>();
  const refusing = new Set<string>();
  /** The probes in a row without an answer. */
  const silent = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  const closing = new AbortController();
  let next = 0;

  /** An answer decides at once; only several probes without one do, because a busy process answers late. */
  async function probe({ url }: FrontTarget): Promise<void> {
    if (url === undefined) return;
    try {
      const response = await fetch(`${url}/readyz`, {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      silent.delete(url);
      const [now, before] = response.status === 200 ? [ready, refusing] : [refusing, ready];
      now.add(url);
      before.delete(url);
    } catch {
      const count = (silent.get(url) ?? 0) + 1;
      silent.set(url, count);
      if (count >= SILENT_PROBES_MAX) ready.delete(url);
    }
  }

  async function probeAgain(target: FrontTarget): Promise<void> {
    while (!closing.signal.aborted) {
      await probe(target);
      await sleep(PROBE_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  function choose(): string | undefined {
    const urls = targets.flatMap(({ url }) => (url === undefined ? [] : [url]));
    const answering = urls.filter((url) => ready.has(url));
    const choice = answering.length > 0 ? answering : urls.filter((url) => !refusing.has(url));
    next += 1;
    return choice[next % choice.length];
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const url = choose();
    if (url === undefined) return void response.writeHead(503, { 'x-front': 'no target' }).end();
    const { connection: _, ...headers } = request.headers;
    const call = httpRequest(`${url}${request.url ?? ''}`, {
      method: request.method ?? 'GET',
      headers,
      agent,
    });
    call.on('error', () => {
      if (response.headersSent) return void response.destroy();
      // A refused connection is known before the next probe.
      ready.delete(url);
      response.writeHead(502, { 'x-front': 'the process did not answer' }).end();
    });
    call.on('response', (answer) => {
      const { connection: __, ...answerHeaders } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, answerHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('close', () => {
        if (!answer.complete) response.destroy();
      });
    });
    response.on('close', () => call.destroy());
    request.pipe(call);
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await Promise.all(targets.map(probe));
  const probing = Promise.all(targets.map(probeAgain));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closing.abort();
      await probing;
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
