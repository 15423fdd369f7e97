import type { CallEnd } from '@model-gateway/billing';
import type { RedisConnection } from './redis-connection.ts';

/** Calls that have ended and are still on Redis. They are removed with the next admission, or after a moment without one. */
export interface PendingEnds {
  add(end: CallEnd): void;
  /** Takes them for the next admission. */
  take(): readonly CallEnd[];
  /** Redis did not answer: they are sent again later, which is harmless if they had arrived. */
  putBack(ends: readonly CallEnd[]): void;
  /** Sends them now; never rejects. */
  flush(): Promise<void>;
}

interface PendingEndsOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady'>;
  readonly send: (ends: readonly CallEnd[]) => Promise<void>;
}

// Under load the next admission comes earlier, so that ending a call costs no command.
const DELAY_MS = 50;
const RETRY_MS = 1_000;
// More than that happens only while Redis is unavailable; what is dropped expires by itself.
const PENDING_MAX = 10_000;
const AT_ONCE_MAX = 2_000;
const NONE: readonly CallEnd[] = [];

export function createPendingEnds({ connection, send }: PendingEndsOptions): PendingEnds {
  let pending: CallEnd[] = [];
  let timer: NodeJS.Timeout | undefined;

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, afterMs).unref();
  }

  function take(): readonly CallEnd[] {
    if (pending.length === 0) return NONE;
    return pending.splice(0, AT_ONCE_MAX);
  }

  function putBack(ends: readonly CallEnd[]): void {
    if (ends.length === 0) return;
    pending = [...ends, ...pending].slice(-PENDING_MAX);
    schedule(RETRY_MS);
  }

  async function flush(): Promise<void> {
    while (pending.length > 0) {
      if (!connection.commandsReady()) {
        schedule(RETRY_MS);
        return;
      }
      const ends = take();
      try {
        await send(ends);
      } catch {
        putBack(ends);
        return;
      }
    }
  }

  return {
    add(end) {
      if (pending.length >= PENDING_MAX) pending.shift();
      pending.push(end);
      if (end.isUrgent) void flush();
      else schedule(DELAY_MS);
    },
    take,
    putBack,
    flush,
  };
}
