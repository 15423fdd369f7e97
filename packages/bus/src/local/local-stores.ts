import type { Clock, Log } from '@model-gateway/kernel';
import { createLocalCircuits } from '@model-gateway/router';
import type { Stores } from '../stores.ts';
import { createFileJournal } from './file-journal.ts';
import { createLocalChannels } from './local-channels.ts';
import { createLocalCounters } from './local-counters.ts';
import { createLocalEntries } from './local-entries.ts';
import { createLocalLocks } from './local-locks.ts';

interface LocalStoresOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly instanceName: string;
}

/** Everything inside one process, with the journal in files: the embedded default. */
export function createLocalStores(options: LocalStoresOptions): Stores {
  const { dataDir, log, clock, instanceName } = options;
  const journal = createFileJournal({ dataDir, log, instanceName });
  return {
    channels: createLocalChannels({ log }),
    locks: createLocalLocks({ clock }),
    counters: createLocalCounters({ clock }),
    entries: createLocalEntries({ clock }),
    circuits: createLocalCircuits({ clock }),
    journal,
    start: () => journal.start(),
    close: () => journal.close(),
    ping: () => Promise.resolve(),
    mode: () => 'local',
    onModeChange: () => () => undefined,
  };
}
