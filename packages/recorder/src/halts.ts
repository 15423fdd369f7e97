import { setTimeout as delay } from 'node:timers/promises';
import type { RejectedUsageStore } from '@model-gateway/billing';
import { describeError, type JournalEntry, type Log, type Metrics } from '@model-gateway/kernel';

interface HaltDependencies {
  readonly rejectedUsage: Pick<RejectedUsageStore, 'halt' | 'halting' | 'take'>;
  /** Reports the event; again and again until the recorder goes on. */
  readonly onHalted: (halted: { readonly id: string; readonly error: string }) => Promise<unknown>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Aborts when the recorder stops. */
  readonly signal: AbortSignal;
  readonly retryMs: number;
}

/** Stops a recorder at an event that its code cannot record. */
export interface Halts {
  /** Tries the event again until it is recorded or an operator has it skipped; true for the first. Rejects when the recorder stops. */
  recordedAt(entry: JournalEntry, error: unknown, record: () => Promise<void>): Promise<boolean>;
  /** No recorder waits for what is recorded. */
  release(recorded: readonly JournalEntry[]): Promise<void>;
}

export function createHalts(dependencies: HaltDependencies): Halts {
  const { rejectedUsage, onHalted, metrics, log, signal, retryMs } = dependencies;
  const halted = metrics.gauge({
    name: 'service_usage_halted',
    help: '1 while the recorder waits at a usage event that it cannot record, and records nothing after it.',
  });
  halted.set(0);

  async function isRecordedInTheEnd(
    { id, body }: JournalEntry,
    error: unknown,
    record: () => Promise<void>,
  ): Promise<boolean> {
    for (let reason = describeError(error); ;) {
      await onHalted({ id, error: reason }).catch((failure: unknown) => {
        log.warn({ reason: describeError(failure) }, 'storing an event failed');
      });
      await delay(retryMs, undefined, { signal });
      try {
        await record();
        return true;
      } catch (again) {
        reason = describeError(again);
      }
      // While the store is away, nobody can have asked.
      const stays = rejectedUsage.halt({ id, event: body, error: reason });
      if (!(await stays.catch(() => true))) return false;
    }
  }

  return {
    async recordedAt(entry, error, record) {
      const { id, body } = entry;
      if (!(await rejectedUsage.halt({ id, event: body, error: describeError(error) })))
        return false;
      const remedy = `gateway usage skip ${id} sets it aside; it is tried again every ${retryMs / 1000} s`;
      log.error({ error, event_id: id, remedy }, 'the recorder has halted at an event');
      halted.set(1);
      try {
        return await isRecordedInTheEnd(entry, error, record);
      } finally {
        halted.set(0);
      }
    },
    async release(recorded) {
      // Another recorder, or this one before a restart, may have halted at one of these.
      const halting = new Set((await rejectedUsage.halting()).map(({ id }) => id));
      if (halting.size === 0) return;
      for (const { id } of recorded) {
        if (!halting.has(id)) continue;
        await rejectedUsage.take(id);
        log.info({ event_id: id }, 'the recorder goes on: the event is recorded');
      }
    },
  };
}
