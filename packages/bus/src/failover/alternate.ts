import { linkedAbort } from '../linked-abort.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';

type Work = (signal: AbortSignal) => Promise<void>;

/** Does one thing while Redis is ready and another while it is unavailable, until the signal aborts. */
export async function alternate(
  connection: RedisConnection,
  signal: AbortSignal,
  { whileReady, whileUnavailable }: { readonly whileReady: Work; readonly whileUnavailable: Work },
): Promise<void> {
  while (!signal.aborted) {
    const isReady = connection.commandsReady();
    const turn = linkedAbort(signal);
    const stopWatching = connection.onChange(() => {
      if (connection.commandsReady() !== isReady) turn.abort();
    });
    try {
      await (isReady ? whileReady : whileUnavailable)(turn.signal);
    } finally {
      stopWatching();
      turn.unlink();
    }
  }
}
