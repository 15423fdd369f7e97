import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeError, type Log, type Part } from '@model-gateway/kernel';

interface StartMemoryOptions {
  readonly log: Log;
  readonly windowMs?: number;
}

const WINDOW_MS = 3_000;
// Probes and timers take less of the time than this, a load takes more.
const QUIET_UTILIZATION_MAX = 0.1;

/**
 * Gives back what only the start needed, some 30 MB, once the process has nothing to do. V8 does so after a longer quiet
 * or not at all, depending on its version. It holds the process for about a tenth of a second, and for a while V8
 * collects more often than before; so a process that goes straight to work is left alone.
 */
export function createStartMemory({ log, windowMs = WINDOW_MS }: StartMemoryOptions): Part {
  let since = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout | undefined;
  let returning: Promise<void> | undefined;

  function look(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    since = now;
    if (utilization > QUIET_UTILIZATION_MAX) return;
    clearInterval(timer);
    returning = collectGarbage().then(
      () => log.debug({}, 'the memory of the start was returned'),
      (error: unknown) =>
        log.debug({ reason: describeError(error) }, 'the memory of the start was not returned'),
    );
  }

  return {
    name: 'start-memory',
    start: async () => {
      timer = setInterval(look, windowMs).unref();
    },
    async stop() {
      clearInterval(timer);
      // Node does not end while a session is open.
      await returning;
    },
  };
}

/** The inspector is the one way to ask V8 for all it can spare without flags. It needs no port for this. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  // A session that is closed from within its own answer counts as open for ever.
  await nextTurn();
  session.disconnect();
}
