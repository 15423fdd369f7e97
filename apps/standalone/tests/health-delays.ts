import { readFileSync } from 'node:fs';

/** The health check may be this much later than that of a control. */
export const HEALTH_LATE_MS = 500;
const HEALTH_INTERVAL_MS = 50;
/** A busy machine delays the rounds of some seconds, but not all of a minute; a shape that blocks delays each. */
const ROUNDS_MAX = 10;
const ROUNDS_MS_MAX = 60_000;

/** A process under test, and one that shows how late answers are because of the machine. */
interface Compared {
  readonly url: string;
  readonly pid: number;
  readonly controlUrl: string;
}

/** By how much the health check was later than that of the control in the best of some rounds, in milliseconds. */
export async function lateMs(compared: Compared, ask: () => Promise<unknown>): Promise<number> {
  let bestMs = Infinity;
  const endsAt = performance.now() + ROUNDS_MS_MAX;
  const mayContinue = (round: number): boolean => round < ROUNDS_MAX || performance.now() < endsAt;
  for (let round = 0; bestMs > HEALTH_LATE_MS && mayContinue(round); round += 1) {
    const delays = compareDelays(compared);
    try {
      await ask();
    } finally {
      bestMs = Math.min(bestMs, await delays.stop());
    }
  }
  return bestMs;
}

/** Asks both at the same moments until it is stopped; `stop` returns by how much the first was later, at most. */
function compareDelays({ url, pid, controlUrl }: Compared): { stop(): Promise<number> } {
  let latestMs = 0;
  let isAsking = false;
  let last: Promise<void> = Promise.resolve();
  async function askBoth(): Promise<void> {
    const waitedBefore = waitedMs(pid);
    const [ours, control] = await Promise.all([healthMs(url), healthMs(controlUrl)]);
    latestMs = Math.max(latestMs, ours - (waitedMs(pid) - waitedBefore) - control);
    isAsking = false;
  }
  const timer = setInterval(() => {
    // One question at a time: those to the control would wait for each other. After a failure there is none.
    if (isAsking) return;
    isAsking = true;
    last = askBoth();
    last.catch(() => undefined);
  }, HEALTH_INTERVAL_MS);
  return {
    async stop() {
      clearInterval(timer);
      await last;
      return latestMs;
    },
  };
}

/** How long the main thread of a process had work but no core, since its start: other processes made it late, not its work. */
function waitedMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const [, nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

async function healthMs(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/healthz`);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - startedAt;
}
