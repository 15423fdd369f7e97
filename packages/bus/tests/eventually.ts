import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;
const TIMEOUT_MS = 60_000;

/** Waits for a condition that some event outside of the test's reach brings about. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number = TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`still not so: ${what}`);
    await delay(POLL_MS);
  }
}
