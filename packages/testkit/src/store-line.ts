import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a store that can be cut off or slowed down to simulate an outage. */
export interface StoreLine {
  readonly url: string;
  /** How many connections were refused so far. */
  readonly refusals: number;
  /** How many bytes the store has sent so far. */
  readonly answeredBytes: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Ends the connections whose client sent this text last, keeps the others and refuses new ones. False without any. */
  cutWhere(sent: string): boolean;
  restore(): void;
  /** Delays everything that the store sends from now on, as if it were slow; `Infinity` until the next call, as if it were paused. */
  delayAnswers(milliseconds: number): void;
  close(): Promise<void>;
}

export async function openStoreLine(storeUrl: string): Promise<StoreLine> {
  const store = new URL(storeUrl);
  const sockets = new Set<Socket>();
  const lastSent = new WeakMap<Socket, string>();
  let isCut = false;
  let refusals = 0;
  let answeredBytes = 0;
  const answers = createDelay();
  const server = createServer((socket) => {
    if (isCut) {
      refusals += 1;
      socket.destroy();
      return;
    }
    socket.on('data', (sent) => lastSent.set(socket, sent.toString('latin1')));
    const upstream = connect(Number(store.port), store.hostname);
    socket.pipe(upstream);
    upstream.on('data', (sent) => {
      answeredBytes += sent.length;
      answers.add(() => socket.write(sent));
    });
    upstream.on('end', () => answers.add(() => socket.end()));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(store);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    get refusals() {
      return refusals;
    },
    get answeredBytes() {
      return answeredBytes;
    },
    cut,
    cutWhere(sent) {
      const matching = [...sockets].filter((socket) => lastSent.get(socket)?.includes(sent));
      isCut = matching.length > 0;
      for (const socket of matching) socket.destroy();
      return isCut;
    },
    restore: () => {
      isCut = false;
    },
    delayAnswers: (milliseconds) => answers.set(milliseconds),
    async close() {
      cut();
      answers.set(0);
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs what is added in its order, so many milliseconds later. */
function createDelay() {
  const waiting: { readonly run: () => void; dueAt: number }[] = [];
  let delayMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function runDue(): void {
    clearTimeout(timer);
    while (waiting[0] !== undefined && waiting[0].dueAt <= performance.now())
      waiting.shift()?.run();
    const next = waiting[0]?.dueAt ?? Infinity;
    if (next < Infinity) timer = setTimeout(runDue, next - performance.now());
  }

  return {
    add(run: () => void): void {
      waiting.push({ run, dueAt: performance.now() + delayMs });
      runDue();
    },
    set(milliseconds: number): void {
      delayMs = milliseconds;
      const latest = performance.now() + milliseconds;
      for (const each of waiting) each.dueAt = Math.min(each.dueAt, latest);
      runDue();
    },
  };
}
