import { createAccountEvents } from '@model-gateway/accounts';
import { PRICES_CHANNEL } from '@model-gateway/billing';
import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import { createBackendAnnouncer, ROUTES_CHANNEL } from '@model-gateway/router';
import { FILE_ENTRIES_CHANNEL } from '../file-entry-store.ts';
import { plan, type ConfigChanges } from '../plan.ts';
import type { ConfigEntry, Section } from '../sections.ts';
import type { ConfiguredStores } from './configured-stores.ts';
import type { EntryRules } from './entry-rules.ts';
import { readInstalled, type InstalledOptions } from './installed-entries.ts';
import { removeEntry, writeEntry } from './write-entry.ts';
import { assertGroupsExist } from './wrong-entries.ts';

type Announced = Parameters<typeof createAccountEvents>[0] &
  Parameters<typeof createBackendAnnouncer>[0];

/** The stores of the installation, and how its processes are told of changes. */
export interface ApplyContext {
  readonly database: {
    transaction<Result>(work: (stores: ConfiguredStores) => Promise<Result>): Promise<Result>;
  };
  readonly bus: Pick<Announced, 'channels' | 'counters' | 'entries' | 'circuits'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Applies the entries of a file: all or nothing, by one process at a time. Other processes are notified afterwards. */
export async function applyEntries(
  entries: readonly ConfigEntry[],
  rules: EntryRules,
  context: ApplyContext,
): Promise<ConfigChanges> {
  const planned = await context.database.transaction(async (stores) => {
    await stores.fileEntries.hold();
    // Without the encryption key that they were stored with, upstream keys cannot be read: they are stored again.
    const found = await planEntries(stores, entries, { ...rules, canReadKeys: true });
    for (const entry of found.removed) {
      await removeEntry(stores, entry);
      await stores.fileEntries.remove(entry.section, entry.name);
    }
    for (const entry of [...found.added, ...found.changed]) {
      await writeEntry(stores, entry, rules);
      const { section, name, hash } = entry;
      const target = entry.section === 'aliases' ? entry.value.target : null;
      await stores.fileEntries.put({ section, name, hash, target });
    }
    return found;
  });
  await announce(planned, rules, context);
  return planned;
}

/** What applying these entries would change. Throws `WrongEntries` for what would be refused. */
export async function planEntries(
  stores: ConfiguredStores,
  entries: readonly ConfigEntry[],
  options: InstalledOptions,
): Promise<ConfigChanges> {
  const applied = await stores.fileEntries.list();
  const changes = plan(applied, entries, await readInstalled(stores, entries, options));
  await assertGroupsExist(stores, [...changes.added, ...changes.changed]);
  return changes;
}

/** Processes that miss a message read the stores a little later. */
async function announce(
  { added, changed, removed }: ConfigChanges,
  { registrationOf }: EntryRules,
  { bus, clock, log }: ApplyContext,
): Promise<void> {
  const written = [...added, ...changed];
  const sections = new Set<Section>([...written, ...removed].map(({ section }) => section));
  if (sections.size === 0) return;
  const { channels, counters, entries, circuits } = bus;
  try {
    await channels.publish(FILE_ENTRIES_CHANNEL, '');
    if (sections.has('routes')) await channels.publish(ROUTES_CHANNEL, '');
    if (sections.has('prices')) await channels.publish(PRICES_CHANNEL, '');
    if (sections.has('tiers'))
      await createAccountEvents({ channels, counters, log }).changed({ kind: 'tiers' });
    await createBackendAnnouncer({ channels, entries, circuits, clock, log }).announce([
      ...written.flatMap((entry) =>
        entry.section === 'backends'
          ? [{ name: entry.name, config: registrationOf(entry.value) }]
          : [],
      ),
      ...removed.flatMap(({ section, name }) =>
        section === 'backends' ? [{ name, config: null }] : [],
      ),
    ]);
  } catch (error) {
    log.warn({ reason: describeError(error) }, 'announcing an applied configuration file failed');
  }
}
