import { setTimeout as sleep } from 'node:timers/promises';
import { startupError } from '@model-gateway/kernel';
import { pendingMigrations, type MigrateOptions } from './migrate.ts';

interface AwaitOptions extends MigrateOptions {
  /** Ends the waiting early. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

const POLL_MS = 500;
const TIMEOUT_MS = 120_000;

/** For a process that does not migrate: waits until another process has migrated, up to a timeout. */
export async function awaitMigrations(options: AwaitOptions): Promise<void> {
  const { log, signal, timeoutMs = TIMEOUT_MS } = options;
  const deadline = performance.now() + timeoutMs;
  let pending = await pendingMigrations(options);
  if (pending.length > 0)
    log.info({ migrations: pending }, 'waiting for the database to be migrated');
  while (pending.length > 0 && !signal.aborted) {
    if (performance.now() >= deadline)
      throw startupError('migration_missing', { migrations: listed(pending) });
    // An aborted pause rejects; the loop then checks the signal and ends.
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    // If the database is unavailable for a moment, the query is repeated.
    pending = await pendingMigrations(options).catch(() => pending);
  }
}

const listed = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;
