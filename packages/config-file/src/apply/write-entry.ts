import { BUILT_IN_TIERS, priceOf, type TierChanges } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { sha256Hex } from '@model-gateway/kernel';
import { newSigningSecret } from '@model-gateway/webhooks';
import { ENTRY_NAMES, type ConfigEntry, type Section, type SectionValue } from '../sections.ts';
import type { EntryRules } from './entry-rules.ts';
import type { ConfiguredStores } from './configured-stores.ts';
import { routeRuleOf } from './route-rule-of.ts';

/** Writes an entry of the file to its store; an existing entry of that name is replaced. */
export async function writeEntry(
  stores: ConfiguredStores,
  entry: ConfigEntry,
  { registrationOf }: Pick<EntryRules, 'registrationOf'>,
): Promise<void> {
  switch (entry.section) {
    case 'backends':
      return stores.backendConfigs.save(registrationOf(entry.value));
    case 'aliases':
      // Aliases have no store of their own: the store of the file entries has the target.
      return undefined;
    case 'routes':
      return stores.routeRules.set(routeRuleOf(entry.value));
    case 'tiers':
      return stores.plans.saveTier(entry.name, tierOf(entry.value));
    case 'prices':
      return writePrice(stores, entry.value);
    case 'webhooks':
      return writeWebhook(stores, entry.name, entry.value);
  }
}

/** Removes what an entry has written. Built-in tiers get their built-in limits again. */
export async function removeEntry(
  stores: ConfiguredStores,
  { section, name }: { readonly section: Section; readonly name: string },
): Promise<void> {
  switch (section) {
    case 'backends':
      return stores.backendConfigs.remove(name);
    case 'aliases':
      return undefined;
    case 'routes':
      await stores.routeRules.remove(name);
      return undefined;
    case 'tiers':
      return removeTier(stores, name);
    case 'prices':
      return removePrice(stores, name);
    case 'webhooks':
      await stores.webhooks.remove(webhookId(name));
      return undefined;
  }
}

const UNLIMITED = { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };

const builtInTier = (name: string): TierChanges | undefined => {
  const tier = BUILT_IN_TIERS.find((known) => known.name === name);
  if (tier === undefined) return undefined;
  const { monthlyUsdQuota, monthlyTokenQuota, rpm } = tier;
  return { monthlyUsdQuota, monthlyTokenQuota, rpm };
};

/** The same limits at each apply: what the file does not name is as built in, or unlimited. */
export function tierOf(value: SectionValue<'tiers'>): TierChanges {
  const base = builtInTier(value.name) ?? UNLIMITED;
  const given = (limit: number | null | undefined, otherwise: number | null | undefined) =>
    limit === undefined ? otherwise : limit;
  return {
    monthlyUsdQuota: given(value.monthly_usd_quota, base.monthlyUsdQuota),
    monthlyTokenQuota: given(value.monthly_token_quota, base.monthlyTokenQuota),
    rpm: given(value.rpm, base.rpm),
  };
}

async function removeTier({ plans }: ConfiguredStores, name: string): Promise<void> {
  const builtIn = builtInTier(name);
  if (builtIn === undefined) await plans.removeTier(name);
  else await plans.saveTier(name, builtIn);
}

async function writePrice(
  { prices }: ConfiguredStores,
  value: SectionValue<'prices'>,
): Promise<void> {
  const price = priceOf(value);
  if (price !== undefined) await prices.set(price);
}

async function removePrice({ prices }: ConfiguredStores, name: string): Promise<void> {
  const found = (await prices.list()).find(
    ({ source, pattern, backend }) =>
      source !== 'catalogue' &&
      ENTRY_NAMES.prices({ pattern, backend: backend ?? undefined }) === name,
  );
  if (found !== undefined) await prices.remove(found.pattern, found.backend);
}

async function writeWebhook(
  { webhooks }: ConfiguredStores,
  name: string,
  { url, events, format, group_id, secret }: SectionValue<'webhooks'>,
): Promise<void> {
  const webhook = {
    id: webhookId(name),
    url,
    events: [...new Set(events)],
    format,
    groupId: group_id ?? null,
    secret: secret ?? newSigningSecret(),
    createdById: null,
    createdAt: new Date(),
  };
  const isSaved = await webhooks.save(webhook, { keepsSecret: secret === undefined });
  if (!isSaved)
    throw new ServiceError('not_found', `the group of the webhook ${name} does not exist`);
}

/** The same id at each apply, so that its deliveries stay. */
export function webhookId(name: string): string {
  const digits = sha256Hex(`webhook of the configuration file: ${name}`);
  // Version 8 and the variant of RFC 9562.
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
