import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MIN_MS = 10;
const POLL_MAX_MS = 250;
/** The interval of polling as a part of the time that has passed: what took long is polled rarely. */
const POLL_PART = 0.1;
const TIMEOUT_MS = 120_000;

interface WaitOptions {
  readonly timeoutMs?: number;
  /** Describes the condition in the error message. */
  readonly what?: string;
}

/** Waits for a condition by polling. A condition that throws counts as false. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<void> {
  const startedAt = performance.now();
  let lastError: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      lastError = error;
    }
    const passedMs = performance.now() - startedAt;
    if (passedMs > timeoutMs) {
      throw new Error(`${what} was not met within ${timeoutMs} ms`, { cause: lastError });
    }
    await sleep(Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, passedMs * POLL_PART)));
  }
}
