import { isDeepStrictEqual } from 'node:util';
import { priceOf } from '@model-gateway/billing';
import { fingerprintOf, type BackendConfig } from '@model-gateway/router';
import type { Webhook } from '@model-gateway/webhooks';
import type { Installed } from '../plan.ts';
import { ENTRY_NAMES, type ConfigEntry, type SectionValue } from '../sections.ts';
import type { ConfiguredStores } from './configured-stores.ts';
import type { EntryRules } from './entry-rules.ts';
import { routeRuleOf } from './route-rule-of.ts';
import { tierOf, webhookId } from './write-entry.ts';

export interface InstalledOptions extends Pick<EntryRules, 'registrationOf'> {
  /** False where the key is not known that upstream keys are encrypted with: then they are not compared. */
  readonly canReadKeys: boolean;
}

/** Reads what is installed, to compare it with the entries of a file. Secrets of webhooks are not compared. */
export async function readInstalled(
  stores: ConfiguredStores,
  wanted: readonly ConfigEntry[],
  { canReadKeys, registrationOf }: InstalledOptions,
): Promise<(entry: ConfigEntry) => Installed> {
  const backends = byName(await stores.backendConfigs.list(), ({ name }) => name);
  const routes = byName(await stores.routeRules.list(), ({ model }) => model);
  const tiers = byName(await stores.plans.tiers(), ({ name }) => name);
  const prices = byName(
    (await stores.prices.list()).filter(({ source }) => source !== 'catalogue'),
    ({ pattern, backend }) => ENTRY_NAMES.prices({ pattern, backend: backend ?? undefined }),
  );
  // Those that calls set are in the memory of the processes alone.
  const aliases = new Set(
    (await stores.fileEntries.list())
      .filter(({ section }) => section === 'aliases')
      .map(({ name }) => name),
  );
  const webhooks = new Map<string, Webhook | undefined>();
  for (const { section, name } of wanted) {
    if (section === 'webhooks') webhooks.set(name, await stores.webhooks.find(webhookId(name)));
  }
  return (entry) => {
    const { name } = entry;
    switch (entry.section) {
      case 'backends': {
        const config = registrationOf(entry.value);
        return compared(backends.get(name), (stored) => isSameBackend(stored, config, canReadKeys));
      }
      case 'aliases':
        return aliases.has(name) ? 'same' : 'missing';
      case 'routes':
        return compared(routes.get(name), (stored) => isSame(stored, routeRuleOf(entry.value)));
      case 'tiers':
        return compared(tiers.get(name), (stored) =>
          isSame(stored, { name, ...tierOf(entry.value) }),
        );
      case 'prices':
        return compared(prices.get(name), ({ source: _source, ...stored }) =>
          isSame(stored, priceOf(entry.value)),
        );
      case 'webhooks':
        return comparedWebhook(webhooks.get(name), entry.value);
    }
  };
}

const byName = <Stored>(
  list: readonly Stored[],
  nameOf: (stored: Stored) => string,
): ReadonlyMap<string, Stored> => new Map(list.map((stored) => [nameOf(stored), stored]));

const compared = <Stored>(
  stored: Stored | undefined,
  isEqual: (stored: Stored) => boolean,
): Installed => (stored === undefined ? 'missing' : isEqual(stored) ? 'same' : 'different');

/** As JSON has it: absent and undefined fields are the same. */
const isSame = (stored: unknown, wanted: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(stored)), JSON.parse(JSON.stringify(wanted)));

function isSameBackend(
  stored: BackendConfig,
  { apiKey, apiKeys, ...config }: BackendConfig,
  canReadKeys: boolean,
): boolean {
  const read = canReadKeys ? stored : { ...stored, apiKey, apiKeys };
  return fingerprintOf(read) === fingerprintOf({ ...config, apiKey, apiKeys });
}

function comparedWebhook(
  stored: Webhook | undefined,
  { url, events, format, group_id: groupId = null }: SectionValue<'webhooks'>,
): Installed {
  // A group that is deleted takes its webhooks with it.
  if (stored === undefined) return groupId === null ? 'missing' : 'same';
  const { events: storedEvents } = stored;
  const isEqual =
    isSame(
      { url: stored.url, format: stored.format, groupId: stored.groupId },
      { url, format, groupId },
    ) && isSame([...storedEvents].toSorted(), [...new Set(events)].toSorted());
  return isEqual ? 'same' : 'different';
}
