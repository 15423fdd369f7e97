import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
const TIMEOUT_MS = 10_000;

interface WaitOptions {
  readonly timeoutMs?: number;
  /** What is waited for, for the message of a failure. */
  readonly what?: string;
}

/** Waits for something that sends no event. A condition that throws counts as not yet true. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: WaitOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what} did not come true within ${timeoutMs} ms`, { cause: lastError });
    }
    await sleep(POLL_MS);
  }
}
