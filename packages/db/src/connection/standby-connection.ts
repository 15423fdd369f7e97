import { describeError, type Log } from '@model-gateway/kernel';
import type { Connection } from './connection.ts';

/** After a failure the primary answers for this long, so that a lost standby does not delay every query. */
const PAUSE_MS = 10_000;

/** Reads from a standby while it answers, otherwise from the primary. Writes and transactions go to the primary. */
export function preferStandby(standby: Connection, primary: Connection, log: Log): Connection {
  let pausedUntil = 0;
  return {
    ...primary,
    async run(work) {
      if (performance.now() < pausedUntil) return primary.run(work);
      try {
        return await standby.run(work);
      } catch (error) {
        pausedUntil = performance.now() + PAUSE_MS;
        log.warn(
          { reason: describeError(error) },
          'the standby did not answer a query; the primary does',
        );
        return primary.run(work);
      }
    },
  };
}
