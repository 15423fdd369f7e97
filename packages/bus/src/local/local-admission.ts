import {
  decideAdmission,
  decideBudget,
  NOTHING_RESERVED,
  type AccountState,
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionStore,
  type BudgetUsage,
  type ReservationEnd,
  type CountedRequests,
  type KeyCounts,
  type KeyLimits,
  type DrawingAccount,
  type ReservationRequest,
  type RequestLimit,
  type ReservedAmounts,
  type WindowUsage,
} from '@model-gateway/billing';
import type { Clock, Counters } from '@model-gateway/kernel';
import { accountKey, budgetKey, windowKey } from '../admission-facts.ts';
import { createBoundedExpiringMap, type BoundedExpiringMap } from './bounded-expiring-map.ts';
import { createLocalTokens } from './local-tokens.ts';
import { createLocalCalls, type LocalCalls } from './local-calls.ts';
import { NANO_USD, wholeAmount } from '../whole-amounts.ts';

interface LocalAdmissionOptions {
  readonly clock: Clock;
  readonly counters: Pick<Counters, 'read'>;
  /** The counter of account changes. */
  readonly epochCounter: string;
  /** After this time a fact is read again. */
  readonly factKeptMs: number;
  /** After this time a call that was not ended ends by itself. */
  readonly callKeptMs?: number | undefined;
}

const CALL_KEPT_MS = 15 * 60_000;
const LIMITED_MS = 60_000;
const LIMITS_MAX = 100_000;
const FACTS_MAX = 100_000;

/** Admission inside one process. */
export interface LocalAdmission extends AdmissionStore {
  /** Forgets what calls have used: it has been settled meanwhile. */
  forgetUnsettled(): void;
}

/** Limits, calls and facts inside one process. */
export function createLocalAdmission(options: LocalAdmissionOptions): LocalAdmission {
  const { clock, counters, epochCounter, factKeptMs, callKeptMs = CALL_KEPT_MS } = options;
  const calls = createLocalCalls(clock, callKeptMs);
  // What calls have used and is not settled: while Redis or the database is unavailable, nothing is.
  let unsettled = createLocalCalls(clock, callKeptMs);
  const logs = createBoundedExpiringMap<number[]>({ clock, entriesMax: LIMITS_MAX });
  const windows = createBoundedExpiringMap<WindowUsage>({ clock, entriesMax: FACTS_MAX });
  const accounts = createBoundedExpiringMap<AccountState>({ clock, entriesMax: FACTS_MAX });
  const budgets = createBoundedExpiringMap<BudgetUsage>({ clock, entriesMax: FACTS_MAX });
  const tokensUsed = createLocalTokens(clock, LIMITS_MAX);

  function isReached({ name, requestsPerMinute }: RequestLimit, now: number): boolean {
    const log = logs.get(name)?.value ?? [];
    const counting = log.findIndex((time) => time > now - LIMITED_MS);
    log.splice(0, counting === -1 ? log.length : counting);
    return log.length >= requestsPerMinute;
  }

  function count({ name }: RequestLimit, now: number): CountedRequests {
    const log = logs.get(name)?.value ?? [];
    log.push(now);
    logs.set(name, log, now + LIMITED_MS);
    return countOf(log, now);
  }

  const counted = ({ name }: RequestLimit, now: number): CountedRequests =>
    countOf(logs.get(name)?.value ?? [], now);

  function update<Fact extends Versioned>(
    facts: BoundedExpiringMap<Fact>,
    name: string,
    fact: Fact,
  ): void {
    const stored = facts.get(name)?.value;
    if (stored === undefined || stored.version < fact.version) {
      facts.set(name, fact, clock.now() + factKeptMs);
    }
  }

  const isBusy = ({ id, userId, callsMax }: ReservationRequest): boolean =>
    calls.count(callsName(userId)) >= callsMax && !calls.has(callsName(userId), id);

  /** By all calls but this one, which may have begun before. */
  function reservedByOthers({ id, userId }: ReservationRequest, account: DrawingAccount): Reserved {
    const [tokens, nanoUsd] = calls.sums(reservedName(userId), id);
    const [points] = calls.sums(reservedName(accountKey(account)), id);
    const [usedTokens, usedNanoUsd] = unsettled.sums(reservedName(userId));
    const [usedPoints] = unsettled.sums(reservedName(accountKey(account)));
    return {
      reserved: {
        tokens: tokens + usedTokens,
        costUsd: (nanoUsd + usedNanoUsd) / NANO_USD,
        points: points + usedPoints,
      },
      unsettled: { tokens: usedTokens, costUsd: usedNanoUsd / NANO_USD },
    };
  }

  function countsOf({ id }: KeyLimits, callId: string): KeyCounts {
    const [inFlight, nanoUsd] = calls.sums(keyName(id), callId);
    const [, usedNanoUsd] = unsettled.sums(keyName(id));
    const { tokens, nextFreeMs } = tokensUsed.of(id);
    return {
      reservedUsd: (nanoUsd + usedNanoUsd) / NANO_USD,
      unsettledUsd: usedNanoUsd / NANO_USD,
      tokens: inFlight + tokens,
      nextFreeMs,
    };
  }

  /** Reserves for the user, the account and the key. Each of the three names the next one, which ends with it. */
  function reserve(
    all: LocalCalls,
    { id, userId }: Pick<ReservationRequest, 'id' | 'userId'>,
    { pointsName, keyId }: { readonly pointsName: string; readonly keyId: string | undefined },
    { tokens, costUsd, points }: ReservedAmounts,
  ): void {
    const amounts = [wholeAmount(tokens), wholeAmount(costUsd * NANO_USD)] as const;
    all.add(reservedName(userId), id, amounts, pointsName);
    all.add(pointsName, id, [wholeAmount(points), 0], keyId && keyName(keyId));
    if (keyId !== undefined) all.add(keyName(keyId), id, amounts);
  }

  /** Begins the call of a request, unless known facts and the other reservations refuse it: the caller may know more. */
  function begin(
    { call }: AdmissionRequest,
    facts: StoredFacts,
    counts: KeyCounts | undefined,
  ): Reserved & { readonly hasBegun: boolean } {
    const reservation = call?.reservation;
    let held: Reserved = NO_RESERVATION;
    if (call !== undefined && reservation !== undefined) {
      const { tier, isPriced, account, points, key } = reservation;
      held = reservedByOthers(call, account);
      const { reserved } = held;
      const { window, account: balance, budget } = facts;
      const state = { ...facts, tier, drawingAccount: account, points, isPriced, reserved };
      const isSpent =
        key !== undefined &&
        counts !== undefined &&
        budget !== undefined &&
        decideBudget(key.budgetUsd, budget, counts) !== 'admit';
      const isRefused =
        window !== undefined && balance !== undefined && decideAdmission(state) !== 'admit';
      if (isSpent || isRefused) return { ...held, hasBegun: false };
      const links = { pointsName: reservedName(accountKey(account)), keyId: key?.id };
      reserve(calls, call, links, reservation);
    }
    if (call !== undefined) calls.add(callsName(call.userId), call.id);
    if (call !== undefined && reservation === undefined)
      calls.renew(reservedName(call.userId), call.id);
    return { ...held, hasBegun: true };
  }

  function endCall(end: ReservationEnd): void {
    const { id, userId, endsCall, endsReservation, usage, keyId } = end;
    const isRunning = endsCall && calls.remove(callsName(userId), id) !== undefined;
    if (isRunning && usage !== undefined && keyId !== undefined)
      tokensUsed.add(keyId, usage.tokens);
    const pointsName = endsReservation ? calls.remove(reservedName(userId), id) : undefined;
    // A call that was settled before has nothing left that could become usage.
    if (pointsName === undefined || usage === undefined) return;
    reserve(unsettled, end, { pointsName, keyId }, usage);
  }

  return {
    async admit(request) {
      const { knownEpoch, limits, call } = request;
      const [epoch = 0] = await counters.read([epochCounter]);
      if (epoch > knownEpoch) return { outcome: 'stale', epoch };
      // From here on nothing is awaited, so that no other request comes in between.
      const now = clock.now();
      const limit = limits.find((each) => isReached(each, now));
      const window = request.window && windows.get(windowKey(request.window))?.value;
      if (limit !== undefined) return { outcome: 'limited', epoch, limit, window };
      const before = () => limits.map((each) => counted(each, now));
      if (call !== undefined && isBusy(call)) {
        return { outcome: 'busy', epoch, callsMax: call.callsMax, window, counted: before() };
      }
      const limitedKey = call?.reservation?.key;
      const key = limitedKey && countsOf(limitedKey, call.id);
      const tokensMax = limitedKey?.tokensPerMinute ?? Infinity;
      if (key !== undefined && key.tokens >= tokensMax) {
        const { nextFreeMs } = key;
        return { outcome: 'tokens_limited', epoch, nextFreeMs, counted: before() };
      }
      const account = request.account && accounts.get(accountKey(request.account))?.value;
      const budget = request.budget && budgets.get(budgetKey(request.budget))?.value;
      const after = limits.map((each) => count(each, now));
      const begun = begin(request, { window, account, budget }, key);
      return { outcome: 'admitted', epoch, window, account, budget, key, ...begun, counted: after };
    },
    endCall,
    forgetUnsettled() {
      unsettled = createLocalCalls(clock, callKeptMs);
    },
    async updateHints(facts) {
      for (const { userId, month, ...usage } of facts.windows) {
        update(windows, windowKey({ userId, month }), usage);
      }
      for (const { type, id, ...state } of facts.accounts) {
        update(accounts, accountKey({ type, id }), state);
      }
      for (const { costUsd, version, ...budget } of facts.budgets ?? []) {
        update(budgets, budgetKey(budget), { costUsd, version });
      }
      for (const { id, userId } of facts.settled ?? []) {
        for (const all of [calls, unsettled]) all.remove(reservedName(userId), id);
      }
      return Promise.resolve();
    },
  };
}

const NO_RESERVATION: Reserved = {
  reserved: NOTHING_RESERVED,
  unsettled: { tokens: 0, costUsd: 0 },
};

interface StoredFacts {
  readonly window: WindowUsage | undefined;
  readonly account: AccountState | undefined;
  readonly budget: BudgetUsage | undefined;
}

type Reserved = Pick<Extract<AdmissionAnswer, { outcome: 'admitted' }>, 'reserved' | 'unsettled'>;

/** The times are in order. */
const countOf = ({ length, 0: first }: readonly number[], now: number): CountedRequests => ({
  count: length,
  nextFreeMs: first === undefined ? 0 : first + LIMITED_MS - now,
});

const callsName = (userId: string): string => `calls:${userId}`;
const keyName = (keyId: string): string => `key:${keyId}`;
const reservedName = (name: string): string => `reserved:${name}`;

interface Versioned {
  readonly version: number;
}
