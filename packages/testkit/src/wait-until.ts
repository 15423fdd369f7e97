import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
const TIMEOUT_MS = 60_000;

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
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what} was not met within ${timeoutMs} ms`, { cause: lastError });
    }
    await sleep(POLL_MS);
  }
}
