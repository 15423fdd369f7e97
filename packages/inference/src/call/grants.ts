import type { KeyGrant } from '@model-gateway/accounts';
import { jwtCaller } from '../chat/caller.ts';
import type { Payer } from '../quota/payer.ts';
import type { Quotas } from '../quota/quotas.ts';
import { createRequestTrace } from '../usage/request-trace.ts';
import type { CallContext, CallLimit, Grant, Identity } from './call.ts';

/** What the holder of an API key may do, whenever that was read. */
export function rightsOfKey(grant: KeyGrant): Omit<Grant, 'epoch'> {
  const { holder, limits, modelPolicy, owner, settings } = grant;
  const { userId, keyId, keyPrefix, project, groupId } = holder;
  const multiplier = groupId === null ? 1 : limits.costMultiplier;
  return {
    caller: { userId, keyId, apiKeyId: keyPrefix, project, groupId, multiplier, modelPolicy },
    payer: { userId, groupId, multiplier, tier: limits.tier, user: owner, key: payerKeyOf(grant) },
    limits: limitsOf(grant),
    cacheTtlSecs: settings.cacheTtlSecs,
    logsBodies: settings.logBodies,
  };
}

/** Undefined where the key has neither a budget nor a limit of tokens. */
function payerKeyOf({ holder, settings }: KeyGrant): Payer['key'] {
  const { budgetUsd, budgetPeriod, tpm } = settings;
  if (budgetUsd === null && tpm === null) return undefined;
  return { id: holder.keyId, budgetUsd, budgetPeriod, tokensPerMinute: tpm };
}

function limitsOf({ holder, limits, settings }: KeyGrant): readonly CallLimit[] {
  const all: CallLimit[] = [];
  const { groupRpm, tier } = limits;
  // Both count the requests of one key: the lower one decides.
  const rpm = Math.min(tier.rpm ?? Infinity, settings.rpm ?? Infinity);
  if (rpm < Infinity) {
    const setBy = rpm === settings.rpm ? 'key' : 'tier';
    all.push({ name: `key:${holder.keyId}`, requestsPerMinute: rpm, setBy });
  }
  if (holder.groupId !== null && groupRpm !== null)
    all.push({ name: `group:${holder.groupId}`, requestsPerMinute: groupRpm, setBy: 'group' });
  return all;
}

/** A user who is signed in, whose own wallet pays and whose only limits are the quotas of the tier. */
const signedIn = (userId: string, quotas: Pick<Quotas, 'payerOf'>): Identity => ({
  grant: async () => ({
    epoch: undefined,
    caller: jwtCaller(userId),
    payer: await quotas.payerOf(userId),
    limits: [],
    cacheTtlSecs: null,
    logsBodies: null,
  }),
});

/** A call of a user who is signed in. */
export const callOfUser = (
  { userId, surface, refId }: CallOfUser,
  quotas: Pick<Quotas, 'payerOf'>,
): CallContext => ({
  surface,
  refId,
  startedAt: performance.now(),
  identity: signedIn(userId, quotas),
  log: { caller: jwtCaller(userId), trace: createRequestTrace(), model: undefined },
});

interface CallOfUser extends Pick<CallContext, 'surface' | 'refId'> {
  readonly userId: string;
}
