import type { ConfigEntry, Section } from './sections.ts';
import type { StoredFileEntry } from './file-entry-store.ts';

/** What applying a file changes. */
export interface ConfigChanges {
  readonly added: readonly ConfigEntry[];
  readonly changed: readonly ConfigEntry[];
  readonly removed: readonly NamedEntry[];
  readonly unchangedCount: number;
  /** Those of `added` and `changed` that the file alone does not explain. */
  readonly reasons: ReadonlyMap<ConfigEntry, ChangeReason>;
}

interface NamedEntry {
  readonly section: Section;
  readonly name: string;
}

/** What is installed under the name of an entry, compared with the entry. */
export type Installed = 'same' | 'different' | 'missing';

/** Why an entry is written although the file has not changed, or what one replaces that is new in the file. */
type ChangeReason = 'was changed since' | 'was removed since' | 'replaces what is installed';

/** Compares what was applied before, and what is installed now, with what a file has. */
export function plan(
  applied: readonly Pick<StoredFileEntry, 'section' | 'name' | 'hash'>[],
  wanted: readonly ConfigEntry[],
  installed: (entry: ConfigEntry) => Installed,
): ConfigChanges {
  const hashes = new Map(applied.map((entry) => [keyOf(entry), entry.hash]));
  const names = new Set(wanted.map(keyOf));
  const added: ConfigEntry[] = [];
  const changed: ConfigEntry[] = [];
  const reasons = new Map<ConfigEntry, ChangeReason>();
  for (const entry of wanted) {
    const hash = hashes.get(keyOf(entry));
    const found = installed(entry);
    if (hash === undefined) {
      added.push(entry);
      if (found === 'different') reasons.set(entry, 'replaces what is installed');
    } else if (hash !== entry.hash) changed.push(entry);
    else if (found !== 'same') {
      changed.push(entry);
      reasons.set(entry, found === 'missing' ? 'was removed since' : 'was changed since');
    }
  }
  return {
    added,
    changed,
    removed: applied
      .filter((entry) => !names.has(keyOf(entry)))
      .map(({ section, name }) => ({ section, name })),
    unchangedCount: wanted.length - added.length - changed.length,
    reasons,
  };
}

const keyOf = ({ section, name }: NamedEntry): string => `${section} ${name}`;

/** A plan for people: one line for each change. */
export function planLines(changes: ConfigChanges): readonly string[] {
  const { added, changed, removed, unchangedCount, reasons } = changes;
  const written = (sign: string, entries: readonly ConfigEntry[]): readonly string[] =>
    entries.map((entry) => {
      const reason = reasons.get(entry);
      return `${sign} ${keyOf(entry)}${reason === undefined ? '' : ` (${reason})`}`;
    });
  return [
    ...written('+', added),
    ...written('~', changed),
    ...removed.map((entry) => `- ${keyOf(entry)}`),
    `${added.length} to add, ${changed.length} to change, ${removed.length} to remove, ${unchangedCount} unchanged`,
  ];
}
