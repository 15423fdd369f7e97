import { raceAbort } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { abortedUnsent } from '../json-rpc/rpc-failures.ts';
import type { EngineConnection } from './engine-connection.ts';

/** The one connection to an engine: opened by the first call that needs it, and again after it was lost. */
export interface EngineLink {
  connected(signal: AbortSignal): Promise<EngineConnection>;
  close(): Promise<void>;
}

/** Opens a connection and calls back when it must not be used any more. */
type Open = (onUnusable: () => void) => Promise<EngineConnection>;

export function createEngineLink(open: Open): EngineLink {
  let current: Promise<EngineConnection> | undefined;
  let isClosed = false;

  function connect(): Promise<EngineConnection> {
    const forget = (): void => {
      if (current === opening) current = undefined;
    };
    const opening = open(forget);
    // The waiting caller reports the failure; here it only allows the next attempt.
    opening.catch(forget);
    return opening;
  }

  return {
    async connected(signal) {
      if (isClosed) throw new UpstreamFailure('the backend was closed', { isBackendAtFault: true });
      current ??= connect();
      return raceAbort(current, signal, abortedUnsent);
    },
    async close() {
      isClosed = true;
      // A connection that is still being opened is closed in the background.
      void current?.then(
        (connection) => connection.close(),
        () => undefined,
      );
    },
  };
}
