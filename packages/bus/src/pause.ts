import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a time or until the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
