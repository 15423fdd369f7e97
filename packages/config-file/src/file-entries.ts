import { ServiceError } from '@model-gateway/contracts';
import {
  createStoreReader,
  type Channels,
  type Log,
  type StoreReader,
} from '@model-gateway/kernel';
import {
  FILE_ENTRIES_CHANNEL,
  type FileEntryStore,
  type StoredFileEntry,
} from './file-entry-store.ts';
import type { Section } from './sections.ts';

/** What lists show of an entry that comes from the file; nothing of others. */
interface FileMark {
  readonly source?: 'file';
}

/** What came from the configuration file, in the memory of each process. */
export interface FileEntries {
  markOf(section: Section, name: string): FileMark;
  /** Rejects for what came from the configuration file: calls do not change it. */
  assertChangeable(section: Section, name: string): Promise<void>;
}

/** Entries that follow the store. */
export interface SharedFileEntries extends FileEntries, StoreReader {}

interface FileEntriesDependencies {
  readonly store: Pick<FileEntryStore, 'list' | 'has'>;
  readonly channels: Pick<Channels, 'subscribe'>;
  readonly log: Log;
  /** Called with the aliases of the file after each read. */
  readonly onAliases: (aliases: readonly FileAlias[]) => void;
}

export interface FileAlias {
  readonly alias: string;
  readonly target: string;
  readonly setAt: Date;
}

export function createFileEntries(dependencies: FileEntriesDependencies): SharedFileEntries {
  const { store, channels, log, onAliases } = dependencies;
  let names: ReadonlyMap<Section, ReadonlySet<string>> = new Map();
  const reader = createStoreReader({
    channels,
    channel: FILE_ENTRIES_CHANNEL,
    read: () => store.list(),
    onRead(listed) {
      names = namesBySection(listed);
      onAliases(aliasesOf(listed));
    },
    onFailure: (error) =>
      log.warn({ error }, 'reading what came from the configuration file failed'),
  });

  const isKnown = (section: Section, name: string): boolean =>
    names.get(section)?.has(name) === true;

  return {
    markOf: (section, name) => (isKnown(section, name) ? { source: 'file' } : {}),
    async assertChangeable(section, name) {
      // The store also has what another process has just applied; while it is unavailable, the memory decides.
      const isInFile = await store.has(section, name).catch(() => isKnown(section, name));
      if (!isInFile) return;
      throw new ServiceError(
        'in_configuration_file',
        `'${name}' comes from the section '${section}' of the configuration file; change it there and reload the file`,
      );
    },
    ...reader,
  };
}

function namesBySection(
  entries: readonly StoredFileEntry[],
): ReadonlyMap<Section, ReadonlySet<string>> {
  const found = new Map<Section, Set<string>>();
  for (const { section, name } of entries) {
    const known = found.get(section) ?? new Set();
    found.set(section, known.add(name));
  }
  return found;
}

const aliasesOf = (entries: readonly StoredFileEntry[]): readonly FileAlias[] =>
  entries.flatMap(({ section, name, target, createdAt }) =>
    section === 'aliases' && target !== null ? [{ alias: name, target, setAt: createdAt }] : [],
  );
