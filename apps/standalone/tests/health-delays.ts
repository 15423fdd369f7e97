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
    const urls = {
      url: `${compared.url}/healthz`,
      controlUrl: `${compared.controlUrl}/healthz`,
    };
    const delays = compareDelays({ ...compared, ...urls });
    try {
      await ask();
    } finally {
      bestMs = Math.min(bestMs, Math.max(0, ...(await delays.stop())));
    }
  }
  return bestMs;
}

/** By how much `/v1/health` is usually later than that of a control that has no work, in milliseconds. */
export async function usuallyLateMs(
  { url, controlUrl, ...compared }: Compared,
  ask: () => Promise<unknown>,
): Promise<number> {
  const urls = { url: `${url}/v1/health`, controlUrl: `${controlUrl}/v1/health` };
  const delays = compareDelays({ ...compared, ...urls });
  await ask().catch(async (error: unknown) => {
    await delays.stop();
    throw error;
  });
  const sorted = (await delays.stop()).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Infinity;
}

/** Asks both at the same moments until it is stopped; `stop` returns by how much the first was later each time. */
function compareDelays({ url, pid, controlUrl }: Compared): { stop(): Promise<readonly number[]> } {
  const delays: number[] = [];
  let isAsking = false;
  let last: Promise<void> = Promise.resolve();
  async function askBoth(): Promise<void> {
    delays.push(
      await laterMs(
        pid,
        () => askHealth(url),
        () => askHealth(controlUrl),
      ),
    );
    isAsking = false;
  }
  const askAgain = (): void => {
    // One question at a time: those to the control would wait for each other. After a failure there is none.
    if (isAsking) return;
    isAsking = true;
    last = askBoth();
    last.catch(() => undefined);
  };
  askAgain();
  const timer = setInterval(askAgain, HEALTH_INTERVAL_MS);
  return {
    async stop() {
      clearInterval(timer);
      await last;
      return delays;
    },
  };
}

/** How long the main thread of a process had work but no core, since its start: other processes made it late, not its work. */
function waitedMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const [, nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

async function askHealth(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
}

/** How much longer a request to a process takes than one to a control at the same moment, apart from its waiting for a core. */
export async function laterMs(
  pid: number,
  ask: () => Promise<unknown>,
  askControl: () => Promise<unknown>,
): Promise<number> {
  const waitedBefore = waitedMs(pid);
  const [ours, control] = await Promise.all([durationMs(ask), durationMs(askControl)]);
  return ours - (waitedMs(pid) - waitedBefore) - control;
}

async function durationMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
