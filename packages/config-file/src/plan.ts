import type { ConfigEntry, Section } from './sections.ts';
import type { StoredFileEntry } from './file-entry-store.ts';

/** What applying a file changes. */
export interface ConfigChanges {
  readonly added: readonly ConfigEntry[];
  readonly changed: readonly ConfigEntry[];
  readonly removed: readonly NamedEntry[];
  readonly unchangedCount: number;
}

interface NamedEntry {
  readonly section: Section;
  readonly name: string;
}

/** Compares what was applied before with what a file has now. */
export function plan(
  current: readonly Pick<StoredFileEntry, 'section' | 'name' | 'hash'>[],
  wanted: readonly ConfigEntry[],
): ConfigChanges {
  const hashes = new Map(current.map((entry) => [keyOf(entry), entry.hash]));
  const names = new Set(wanted.map(keyOf));
  const added = wanted.filter((entry) => !hashes.has(keyOf(entry)));
  const unchanged = wanted.filter((entry) => hashes.get(keyOf(entry)) === entry.hash);
  return {
    added,
    changed: wanted.filter((entry) => !added.includes(entry) && !unchanged.includes(entry)),
    removed: current
      .filter((entry) => !names.has(keyOf(entry)))
      .map(({ section, name }) => ({ section, name })),
    unchangedCount: unchanged.length,
  };
}

const keyOf = ({ section, name }: NamedEntry): string => `${section} ${name}`;

/** A plan for people: one line for each change. */
export function planLines({
  added,
  changed,
  removed,
  unchangedCount,
}: ConfigChanges): readonly string[] {
  const lines = (sign: string, entries: readonly NamedEntry[]): readonly string[] =>
    entries.map(({ section, name }) => `${sign} ${section} ${name}`);
  return [
    ...lines('+', added),
    ...lines('~', changed),
    ...lines('-', removed),
    `${added.length} to add, ${changed.length} to change, ${removed.length} to remove, ${unchangedCount} unchanged`,
  ];
}
