import { setTimeout as delay } from 'node:timers/promises';

const POLL_MIN_MS = 10;
const POLL_MAX_MS = 250;
/** The interval of polling as a part of the time that has passed: what took long is polled rarely. */
const POLL_PART = 0.1;
const TIMEOUT_MS = 120_000;

/** Waits for a condition that some event outside of the test's reach brings about. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number = TIMEOUT_MS,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    const passedMs = performance.now() - startedAt;
    if (passedMs > timeoutMs) throw new Error(`still not so: ${what}`);
    await delay(Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, passedMs * POLL_PART)));
  }
}
