import type { ApiKey, KeySettingChanges } from '@model-gateway/accounts';
import { budgetResetOf } from '@model-gateway/billing';
import type { RpcParams, RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { AuditedCall } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

const PAGE_KEYS_MAX = 1_000;

type KeyRecord = RpcResult<'keys.list'>[number];
type KeyCall = AuditedCall<'keys.update' | 'keys.rotate' | 'keys.revoke'>;

const audit = {
  target: ({ params }: KeyCall) => `key:${params.key_id}`,
  state: ({ params, userId }: KeyCall, stores: DatabaseStores) =>
    keyState(params.key_id, userId, stores),
};

export function createKeysMethods({ keys, clock }: Services): HandlersOf<'keys'> {
  const recordOf = (key: ApiKey): KeyRecord => keyRecord(key, new Date(clock.now()));
  return {
    'keys.list': async ({ before, limit }, { user }) => {
      const isPage = limit !== undefined || (before ?? undefined) !== undefined;
      const page = isPage
        ? { before: before ?? undefined, countMax: limit ?? PAGE_KEYS_MAX }
        : undefined;
      return (await keys.list(user.id, page)).map(recordOf);
    },
    'keys.create': {
      audit: {
        target: ({ result }) => result && `key:${result.id}`,
        state: ({ result, userId }, stores) => result && keyState(result.id, userId, stores),
      },
      handle: async ({ name, project, group_id, ...settings }, { user }) => {
        const request = { userId: user.id, name, project, groupId: group_id };
        const { key, secret } = await keys.create({ ...request, settings: changesOf(settings) });
        return { ...recordOf(key), key: secret };
      },
    },
    'keys.update': {
      audit: {
        ...audit,
        async state(call, stores) {
          const state = await audit.state(call, stores);
          const changed = (['name', 'metadata'] as const).filter(
            (field) => call.params[field] !== undefined,
          );
          return call.result === undefined || changed.length === 0 ? state : { ...state, changed };
        },
      },
      handle: async ({ key_id, name, ...settings }, { user }) =>
        recordOf(await keys.update(user.id, key_id, { name, settings: changesOf(settings) })),
    },
    'keys.rotate': {
      audit,
      handle: async ({ key_id, grace_secs }, { user }) => {
        const { key, secret } = await keys.rotate(user.id, key_id, grace_secs);
        return { ...recordOf(key), key: secret };
      },
    },
    'keys.revoke': {
      audit,
      handle: async ({ key_id }, { user }) => {
        await keys.revoke(user.id, key_id);
        return { ok: true };
      },
    },
  };
}

/** Without the name and the metadata, which may describe a person. */
async function keyState(keyId: string, userId: string | undefined, stores: DatabaseStores) {
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

/** Null clears a setting, and what is omitted stays as it is. */
function changesOf(params: Omit<RpcParams<'keys.update'>, 'key_id' | 'name'>): KeySettingChanges {
  const { expires_at, models, addresses, cache } = params;
  return {
    expiresAt: typeof expires_at === 'string' ? new Date(expires_at) : expires_at,
    budgetUsd: params.budget_usd,
    budgetPeriod: params.budget_period,
    rpm: params.rpm,
    tpm: params.tpm,
    models: models === null ? [] : models,
    addresses: addresses === null ? [] : addresses,
    metadata: params.metadata,
    logBodies: params.log_bodies,
    cacheTtlSecs: cache && cache.ttl_secs,
  };
}

function keyRecord(key: ApiKey, now: Date): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.keyPrefix,
    key_hint: key.keyHint,
    project: key.project,
    group_id: key.groupId,
    active: key.active,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    ...settingFields(key, now),
    previous_until: key.previousUntil?.toISOString() ?? null,
  };
}

function settingFields({ settings, spentUsd }: ApiKey, now: Date) {
  const { expiresAt, budgetUsd, budgetPeriod, models, addresses, metadata, cacheTtlSecs } =
    settings;
  return {
    expires_at: expiresAt?.toISOString() ?? null,
    budget_usd: budgetUsd,
    budget_period: budgetPeriod,
    budget_used_usd: budgetUsd === null ? null : spentUsd,
    budget_resets_at:
      budgetPeriod === null ? null : (budgetResetOf(budgetPeriod, now)?.toISOString() ?? null),
    rpm: settings.rpm,
    tpm: settings.tpm,
    models: models.length === 0 ? null : [...models],
    addresses: addresses.length === 0 ? null : [...addresses],
    metadata: metadata === null ? null : { ...metadata },
    log_bodies: settings.logBodies,
    cache: cacheTtlSecs === null ? null : { ttl_secs: cacheTtlSecs },
  };
}
