import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '@model-gateway/kernel';
import { pendingMigrations, type MigrateOptions } from './migrate.ts';

interface AwaitOptions extends MigrateOptions {
  /** Ends the waiting early. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

const POLL_MS = 500;
const TIMEOUT_MS = 120_000;

/** For a process that leaves migrating to another one: waits until that is done, and gives up in the end. */
export async function awaitMigrations(options: AwaitOptions): Promise<void> {
  const { log, signal, timeoutMs = TIMEOUT_MS } = options;
  const deadline = performance.now() + timeoutMs;
  let pending = await pendingMigrations(options);
  if (pending.length > 0)
    log.info({ migrations: pending }, 'waiting for the database to be migrated');
  while (pending.length > 0 && !signal.aborted) {
    if (performance.now() >= deadline) throw new StartupError(explain(pending));
    // Cut short, it rejects: then the next look at the signal ends the loop.
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    // A database that is away for a moment is asked again.
    pending = await pendingMigrations(options).catch(() => pending);
  }
}

const explain = ([first = '', ...others]: readonly string[]): string =>
  `the database lacks the migration ${first}${others.length === 0 ? '' : ` and ${others.length} more`}, and SERVICE_MIGRATE=0 ` +
  'leaves them to somebody else; run `pnpm db:migrate`';
