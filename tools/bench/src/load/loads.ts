import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, type Sample } from '../measure/statistics.ts';
import { bytesOf, openConnection, type ChatRequest, type Connection } from './connection.ts';
import { TOKEN } from './upstream.ts';

/** Where a load goes. */
export interface Target {
  readonly port: number;
  readonly request: ChatRequest;
}

const OK = 200;
/** A token is late if it comes so much later than without any proxy. */
const LATE_MS = 250;

/** Each connection sends its next request when it has the answer to the last one. */
export async function sendRequests(
  { port, request }: Target,
  load: { readonly connections: number; readonly durationMs: number },
): Promise<Sample> {
  const bytes = bytesOf(request);
  const connections = await openAll(port, load.connections);
  const latencies: number[] = [];
  let failed = 0;
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let now = startedAt; now < startedAt + load.durationMs;) {
        const status = await connection.ask(bytes);
        const after = performance.now();
        if (status === OK) latencies.push(after - now);
        else failed += 1;
        now = after;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  for (const connection of connections) connection.close();
  return {
    units: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    failed,
  };
}

/** The streams of a load. */
export interface Streams {
  readonly count: number;
  readonly tokens: number;
  readonly intervalMs: number;
  /** They begin within this time, one after the other. */
  readonly rampMs: number;
}

/** Many streams at once. */
export async function sendStreams({ port, request }: Target, load: Streams): Promise<Sample> {
  const bytes = bytesOf(request);
  const connections = await openAll(port, load.count);
  const first: number[] = [];
  const gaps: number[] = [];
  let failed = 0;
  let units = 0;
  let inTime = 0;
  const startedAt = performance.now();
  const dueBy = startedAt + load.rampMs + (load.tokens - 1) * load.intervalMs + LATE_MS;
  await Promise.all(
    connections.map(async (connection, index) => {
      await sleep((load.rampMs * index) / load.count);
      const stream = await askForStream(connection, bytes);
      if (stream.status !== OK || stream.times.length !== load.tokens) failed += 1;
      units += stream.times.length;
      inTime += stream.times.filter((time) => time <= dueBy).length;
      first.push((stream.times[0] ?? NaN) - stream.sentAt);
      for (const [at, time] of stream.times.entries())
        if (at > 0) gaps.push(time - (stream.times[at - 1] ?? time));
    }),
  );
  for (const connection of connections) connection.close();
  return {
    units,
    inTimePercent: (100 * inTime) / (load.count * load.tokens),
    firstMs: quantile(first, 0.5),
    gapP99Ms: quantile(gaps, 0.99),
    failed,
  };
}

/** A few connections that send so many requests in all, with pauses. The first of each opens its way and does not count. */
export interface Lanes {
  readonly lanes: number;
  readonly requests: number;
  readonly pauseMs: number;
  readonly isStreamed: boolean;
}

/** The time to the first token, or to the whole answer. */
export async function sendInLanes(
  { port, request }: Target,
  load: Lanes,
  onOpened: () => void,
): Promise<Sample> {
  const bytes = bytesOf(request);
  const connections = await openAll(port, load.lanes);
  const times: number[] = [];
  let failed = 0;
  const ask = async (connection: Connection): Promise<number> => {
    const { status, sentAt, times: tokens, endedAt } = await askForStream(connection, bytes);
    if (status !== OK) failed += 1;
    return (load.isStreamed ? (tokens[0] ?? NaN) : endedAt) - sentAt;
  };
  await Promise.all(connections.map(ask));
  await sleep(load.pauseMs);
  onOpened();
  let left = load.requests;
  await Promise.all(
    connections.map(async (connection, lane) => {
      // Otherwise all would ask in the same moment each time.
      await sleep((lane * load.pauseMs) / load.lanes);
      while (left > 0) {
        left -= 1;
        times.push(await ask(connection));
        await sleep(load.pauseMs);
      }
    }),
  );
  for (const connection of connections) connection.close();
  return {
    units: times.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    failed,
  };
}

interface Streamed {
  readonly status: number;
  readonly sentAt: number;
  readonly endedAt: number;
  /** When each token came. */
  readonly times: readonly number[];
}

async function askForStream(connection: Connection, bytes: Buffer): Promise<Streamed> {
  const times: number[] = [];
  const sentAt = performance.now();
  const status = await connection.ask(bytes, (text) => {
    const now = performance.now();
    for (let at = text.indexOf(TOKEN); at >= 0; at = text.indexOf(TOKEN, at + 1)) times.push(now);
  });
  return { status, sentAt, endedAt: performance.now(), times };
}

const openAll = (port: number, count: number): Promise<readonly Connection[]> =>
  Promise.all(Array.from({ length: count }, () => openConnection(port)));
