import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { Clock, Log } from '@model-gateway/kernel';
import { createLocalCircuits, createLocalLimits } from '@model-gateway/router';
import type { SharedStores } from '../stores.ts';
import { createFileJournal } from './file-journal.ts';
import { createLocalAdmission } from './local-admission.ts';
import { createLocalByteCache } from './local-byte-cache.ts';
import { createLocalChannels } from './local-channels.ts';
import { createLocalCounters } from './local-counters.ts';
import { createLocalEntries } from './local-entries.ts';
import { createLocalLocks } from './local-locks.ts';

interface LocalStoresOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly callKeptMs: number | undefined;
}

// No other process changes the facts; this is for changes made in the database by hand.
const FACT_KEPT_MS = 30_000;

/** Everything inside one process, with the journal in files: the embedded default. */
export function createLocalStores(options: LocalStoresOptions): SharedStores {
  const { dataDir, log, clock, callKeptMs } = options;
  const journal = createFileJournal({ dataDir, log });
  const counters = createLocalCounters({ clock });
  return {
    channels: createLocalChannels({ log }),
    locks: createLocalLocks({ clock }),
    counters,
    entries: createLocalEntries({ clock }),
    byteCache: createLocalByteCache({ clock }),
    circuits: createLocalCircuits({ clock }),
    backendLimits: createLocalLimits({ clock }),
    admission: createLocalAdmission({
      clock,
      counters,
      epochCounter: ACCOUNT_EPOCH_KEY,
      factKeptMs: FACT_KEPT_MS,
      callKeptMs,
    }),
    journal,
    start: () => journal.start(),
    close: () => journal.close(),
    ping: () => Promise.resolve(),
    mode: () => 'local',
    onModeChange: () => () => undefined,
  };
}
