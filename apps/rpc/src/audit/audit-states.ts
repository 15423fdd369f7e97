import type { DatabaseStores } from '@model-gateway/db';
import { backendState } from '@model-gateway/inference-runtime';
import type { KnownAliases } from './audit-rule.ts';

/** What the audit log shows of what was changed: no secrets, and nothing that names a person. */

export async function accountState(stores: DatabaseStores, userId: string) {
  const account = await stores.userDirectory.find(userId);
  if (account === undefined) return undefined;
  const { isAdmin, isActive, tier, isProviderBound, isClaimable, erasedAt } = account;
  return {
    is_admin: isAdmin,
    active: isActive,
    tier,
    provider_bound: isProviderBound,
    provider_claim: isClaimable,
    erased: erasedAt !== null,
  };
}

export async function groupState(stores: DatabaseStores, groupId: string) {
  const group = await stores.groups.find(groupId, null);
  if (group === undefined) return undefined;
  const { name, description, ownerId, enforceModelAllowlist, rpmCeiling } = group;
  return {
    name,
    description,
    owner_id: ownerId,
    enforce_model_allowlist: enforceModelAllowlist,
    rpm_ceiling: rpmCeiling,
  };
}

export async function memberState(stores: DatabaseStores, groupId: string, email: string) {
  const member = await stores.members.find(groupId, email);
  if (member === undefined) return undefined;
  const { userId, role, costMultiplier, isActive } = member;
  return { user_id: userId, role, cost_multiplier: costMultiplier, is_active: isActive };
}

export async function memberTarget(stores: DatabaseStores, groupId: string, email: string) {
  const userId = await stores.userDirectory.findIdByEmail(email);
  return userId === undefined ? undefined : `group:${groupId}/user:${userId}`;
}

export async function balanceState(stores: DatabaseStores, groupId: string) {
  const { balance } = await stores.billingFacts.account({ type: 'group', id: groupId });
  return { balance };
}

export async function tierState(stores: DatabaseStores, name: string) {
  return (await stores.plans.tiers()).find((tier) => tier.name === name);
}

export async function priceState(stores: DatabaseStores, pattern: string, backend = '') {
  return (await stores.prices.list()).find(
    (price) =>
      price.source !== 'catalogue' &&
      price.pattern === pattern &&
      (price.backend ?? '') === backend,
  );
}

export async function catalogueState(stores: DatabaseStores) {
  const stored = await stores.prices.list();
  return { prices: stored.filter(({ source }) => source === 'catalogue').length };
}

export async function agentState(stores: DatabaseStores, agentId: string | undefined) {
  const agent = agentId === undefined ? undefined : await stores.agents.find(agentId);
  return agent && { name: agent.name, version: agent.version, hosts: agent.hosts };
}

/** The nodes that have a model or are getting it. */
export async function deployedState(stores: DatabaseStores, modelId: string) {
  const nodes = (await stores.agents.list()).flatMap(({ id, models }) =>
    models
      .filter((model) => model.modelId === modelId)
      .map(({ status }) => ({ agent_id: id, status })),
  );
  return { nodes };
}

export async function modelOnNodeState(stores: DatabaseStores, agentId: string, modelId: string) {
  const node = await stores.agents.find(agentId);
  const model = node?.models.find((known) => known.modelId === modelId);
  return { model_id: modelId, status: model?.status ?? null };
}

export function aliasState(aliases: KnownAliases, alias: string) {
  const known = aliases.list().find((listed) => listed.alias === alias);
  return known && { target: known.target };
}

/** The name and the metadata of a key may describe a person. */
export async function keyState(stores: DatabaseStores, userId: string | undefined, keyId: string) {
  const key = await stores.keys.find(keyId, new Date());
  if (key === undefined || key.userId !== userId) return undefined;
  const { metadata: _, ...settings } = key.settings;
  return {
    project: key.project,
    group_id: key.groupId,
    hint: key.keyHint,
    revoked: key.revokedAt !== null,
    replaced_until: key.previousUntil,
    ...settings,
  };
}

const PROVIDERS_MAX = 10_000;

export async function storedBackendState(stores: DatabaseStores, name: string) {
  const config = (await stores.backendConfigs.list()).find((stored) => stored.name === name);
  return config && backendState(config);
}

export async function routeState(stores: DatabaseStores, model: string) {
  return (await stores.routeRules.list()).find((rule) => rule.model === model);
}

export async function providerState(stores: DatabaseStores, providerId: string) {
  return (await stores.providers.list(PROVIDERS_MAX)).find(({ id }) => id === providerId);
}

/** The path and query of a URL may be a secret of the receiver. */
export async function webhookState(stores: DatabaseStores, webhookId: string) {
  const webhook = await stores.webhooks.find(webhookId);
  if (webhook === undefined) return undefined;
  const { url, events, format, groupId } = webhook;
  return { origin: new URL(url).origin, events, format, group_id: groupId };
}
