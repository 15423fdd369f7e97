import type { ConfigProblem, ValidConfig, WrongEntry } from '../read-config-file.ts';
import type { ConfiguredStores } from './configured-stores.ts';

/** Entries of a valid file that do not fit this installation. */
class WrongEntries extends Error {
  override readonly name = 'WrongEntries';
  readonly wrong: readonly WrongEntry[];

  constructor(wrong: readonly WrongEntry[]) {
    super(
      wrong.map(({ entry, message }) => `${entry.section} ${entry.name} ${message}`).join('; '),
    );
    this.wrong = wrong;
  }
}

/** Throws for webhooks of groups that do not exist. */
export async function assertGroupsExist(
  { groups }: Pick<ConfiguredStores, 'groups'>,
  entries: readonly WrongEntry['entry'][],
): Promise<void> {
  const wrong: WrongEntry[] = [];
  for (const entry of entries) {
    const groupId = entry.section === 'webhooks' ? (entry.value.group_id ?? null) : null;
    if (groupId !== null && (await groups.find(groupId, null)) === undefined)
      wrong.push({ entry, field: 'group_id', message: 'names a group that does not exist' });
  }
  if (wrong.length > 0) throw new WrongEntries(wrong);
}

/** Where the wrong entries are in their file; rethrows every other error. */
export function problemsIn({ problemOf }: ValidConfig, error: unknown): readonly ConfigProblem[] {
  if (error instanceof WrongEntries) return error.wrong.map(problemOf);
  throw error;
}
