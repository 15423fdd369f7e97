import {
  budgetWindowOf,
  decideAdmission,
  decideBudget,
  isDrained,
  NOTHING_RESERVED,
  windowOf,
  withReserved,
  type AdmissionStore,
  type AdmissionAnswer,
  type KeyLimits,
  type ReservationRequest,
  type RequestLimit,
  type TierLimits,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { randomToken, type Clock, type Log } from '@model-gateway/kernel';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import { budgetRefusal, quotaRefusal, tooManyCalls, tooManyTokens } from './quota-refusals.ts';
import { createQuotaFacts, type ReadableFacts } from './quota-facts.ts';
import type { AdmissionModel, ModelPrices } from './model-prices.ts';
import { drawingAccountOf, hasQuota, keyLimitsOf, type Payer } from './payer.ts';
import { createRenewals } from './renewals.ts';
import {
  createReservation,
  withoutLimits,
  type RequestedAdmission,
  type Reservation,
} from './reservation.ts';

/** The answer of the admission store to a request that its limits allow. */
export type AdmittedAnswer = Extract<AdmissionAnswer, { outcome: 'admitted' }>;

/** Refuses requests that neither the monthly quota nor points cover. What is unknown counts as not used. */
export interface Quotas {
  /** The call that the admission store begins for a request. Throws while its usage could not be written. */
  requestReservation(payer: Payer, request: RequestedAdmission): ReservationRequest;
  /** Asks the admission store, which begins the call unless it refuses. */
  ask(payer: Payer, asked: AskedAdmission): Promise<AdmissionAnswer>;
  /** The answer with the usage of the month, which is read from the database if the store does not know it. */
  withWindow(payer: Payer, admitted: AdmittedAnswer): Promise<AdmittedAnswer> | AdmittedAnswer;
  /** The call that has begun. A call that had begun before goes on with its reservation. */
  reservationOf(payer: Payer, requested: ReservationRequest, begun?: Reservation): Reservation;
  /**
   * Decides again about a call that has begun, once all that it sends is known, and reserves that instead. Resolves with
   * the other models that its payer is covered for; on a refusal the caller ends the reservation.
   */
  admitAgain(
    payer: Payer,
    reservation: Reservation,
    request: RequestedAdmission,
  ): Promise<readonly FallbackModel[]>;
  /** Undefined or a promise that resolves if the request is covered; otherwise the caller ends the reservation. */
  assertCovered(
    payer: Payer,
    requested: ReservationRequest,
    admitted: AdmittedAnswer,
    model: AdmissionModel,
  ): Promise<void> | undefined;
  /** The other models of a request that its payer is covered for. */
  coveredFallbacks(
    payer: Payer,
    requested: ReservationRequest,
    admitted: AdmittedAnswer,
    fallbacks: readonly FallbackModel[],
  ): Promise<readonly FallbackModel[]>;
  /** A user who pays with the user's own wallet, by the current tier. */
  payerOf(userId: string): Promise<Payer>;
}

/** What the admission store is asked about a payer. */
interface AskedAdmission {
  /** The number of account changes that are known; undefined: none of them matters. */
  readonly knownEpoch?: number | undefined;
  /** In which the call counts. */
  readonly limits?: readonly RequestLimit[];
  readonly call: ReservationRequest | undefined;
}

interface QuotasDependencies {
  readonly store: AdmissionStore;
  readonly facts: ReadableFacts;
  readonly prices: ModelPrices;
  readonly pointsPerUsd: number;
  /** How many calls a user may have at a time. */
  readonly callsPerUserMax: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Throws while usage cannot be written: then no request begins. */
  readonly assertWritable?: () => void;
  /** Called with each request that is refused because the quota is used up. */
  readonly onExceeded?: (user: { readonly userId: string; readonly tier: string }) => void;
}

/** How long a request waits to be settled what was served just before and uses up the quota. */
const SETTLED_WITHIN_MS = 1_000;
const RETRY_MS = 25;

export function createQuotas(dependencies: QuotasDependencies): Quotas {
  const { store, facts, prices, pointsPerUsd, callsPerUserMax, clock, log } = dependencies;
  const { onExceeded, assertWritable } = dependencies;
  const stored = createQuotaFacts({ store, facts, clock, log });
  // Unique over all processes, and much cheaper than a random id for each call.
  const idPrefix = randomToken(ID_PREFIX_BYTES);
  let calls = 0;
  const renewals = createRenewals();
  store.onReplaced?.(() => renewals.renewAll());

  /** On a drained tier a request with a cost costs at least one point. */
  const pointsOf = (costUsd: number, { multiplier, tier }: Payer): number =>
    hasQuota(tier) ? Math.ceil(costUsd * pointsPerUsd * multiplier) || (costUsd > 0 ? 1 : 0) : 0;

  function requestReservation(payer: Payer, request: RequestedAdmission): ReservationRequest {
    const { expected, jobId, callId, isFree } = request;
    assertWritable?.();
    calls += 1;
    const id = callId ?? jobId ?? `${idPrefix}-${calls.toString(36)}`;
    const { userId, tier, key } = payer;
    const callsMax = callsPerUserMax;
    if (isFree === true) return { id, userId, callsMax };
    // An unknown tier refuses nothing, but may have a quota that other requests are counted in.
    if (!hasQuota(tier) && key === undefined && tier !== UNKNOWN_TIER)
      return { id, userId, callsMax };
    const usage = expected();
    const { costUsd, isPriced } = prices.expect(request, usage);
    return {
      id,
      userId,
      callsMax,
      reservation: {
        tier,
        account: drawingAccountOf(payer),
        isPriced,
        tokens: usage.promptTokens + usage.completionTokens,
        costUsd,
        points: pointsOf(costUsd, payer),
        key: key && keyLimitsOf(key),
      },
    };
  }

  async function readWindow({ userId }: Payer, admitted: AdmittedAnswer): Promise<AdmittedAnswer> {
    return { ...admitted, window: await stored.window(windowOf(userId, new Date(clock.now()))) };
  }

  function reservationOf(
    payer: Payer,
    requested: ReservationRequest,
    begun?: Reservation,
  ): Reservation {
    if (begun !== undefined) {
      begun.extend(requested);
      return begun;
    }
    return createReservation(requested, {
      pointsOf: (costUsd) => pointsOf(costUsd, payer),
      store,
      renewals,
    });
  }

  async function admitAgain(
    payer: Payer,
    reservation: Reservation,
    request: RequestedAdmission,
  ): Promise<readonly FallbackModel[]> {
    const { fallbacks = [] } = request;
    const requested = requestReservation(payer, { ...request, callId: reservation.id });
    if (requested.reservation === undefined) return fallbacks;
    const admitted = await admitReservation(payer, requested);
    reservationOf(payer, requested, reservation);
    await assertCovered(payer, requested, admitted, request);
    return coveredFallbacks(payer, requested, admitted, fallbacks);
  }

  /** Undefined if the request is covered; otherwise the reason, and whether waiting may change it. */
  async function refusalOf(
    payer: Payer,
    { reservation }: ReservationRequest,
    admitted: AdmittedAnswer,
    model: AdmissionModel,
  ) {
    const now = new Date(clock.now());
    const { tier, userId } = payer;
    if (!hasQuota(tier)) return undefined;
    const { reserved, unsettled } = admitted;
    const drawingAccount = drawingAccountOf(payer);
    const window =
      admitted.window ?? (await stored.window(windowOf(userId, now))) ?? NOTHING_RESERVED;
    if (!isDrained(tier, withReserved(window, reserved))) return undefined;
    const account = admitted.account ?? (await stored.account(drawingAccount));
    const points = reservation?.points ?? 0;
    const isPriced = prices.isPriced(model);
    const state = { tier, window, drawingAccount, account, reserved, points, isPriced, now };
    const decision = decideAdmission(state);
    if (decision === 'admit') return undefined;
    const isUnsettled =
      decision === 'quota_reserved' && isDrained(tier, withReserved(window, unsettled));
    const user = payer.user ?? (await stored.payingUser(userId));
    return { error: quotaRefusal(decision, { ...state, user }), isUnsettled };
  }

  /**
   * Where requests that have ended use up the quota, and not those in flight, only settling them shows whether the quota is
   * exceeded or points pay. The recorder may be another process, and needs a few milliseconds per event.
   */
  async function decide(
    payer: Payer,
    requested: ReservationRequest,
    admitted: AdmittedAnswer,
    model: AdmissionModel,
  ): Promise<void> {
    const deadline = performance.now() + SETTLED_WITHIN_MS;
    let known = admitted;
    for (;;) {
      await assertBudget(payer, known);
      const refused = await refusalOf(payer, requested, known, model);
      // The hints of the store may have refused what the database covers.
      if (refused === undefined) return known.hasBegun ? undefined : beginAnyway(requested);
      const { error, isUnsettled } = refused;
      if (!isUnsettled || known.hasBegun || performance.now() > deadline) {
        if (error.code !== 'quota_reserved')
          onExceeded?.({ userId: payer.userId, tier: payer.tier.name });
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      // Its tokens of the minute were checked before.
      known = await admitReservation(payer, withKey(requested, { tokensPerMinute: null }));
    }
  }

  /** Refuses what the budget of the key does not cover. */
  async function assertBudget(
    { key }: Payer,
    { budget, key: counts = NOTHING_COUNTED }: AdmittedAnswer,
  ): Promise<void> {
    if (key === undefined || key.budgetPeriod === null) return;
    const now = new Date(clock.now());
    const window = budgetWindowOf(key.id, key.budgetPeriod, now);
    const usage = budget ?? (await stored.budget(window));
    const decision = decideBudget(key.budgetUsd, usage, counts);
    if (decision === 'admit') return;
    const { budgetUsd, budgetPeriod: period } = key;
    throw budgetRefusal(decision, { budgetUsd, period, now });
  }

  function ask(
    payer: Payer,
    { knownEpoch = ANY_EPOCH, limits = [], call: requested }: AskedAdmission,
  ): Promise<AdmissionAnswer> {
    const { userId, tier, key } = payer;
    const now = new Date(clock.now());
    const ofTier = hasQuota(tier)
      ? { window: windowOf(userId, now), account: drawingAccountOf(payer) }
      : {};
    const budget =
      key === undefined || key.budgetPeriod === null
        ? undefined
        : budgetWindowOf(key.id, key.budgetPeriod, now);
    return store.admit({ knownEpoch, limits, ...ofTier, budget, call: requested });
  }

  /** Begins a call that has been counted in its limits. */
  async function admitReservation(
    payer: Payer,
    requested: ReservationRequest,
  ): Promise<AdmittedAnswer> {
    const answer = await ask(payer, { call: requested });
    if (answer.outcome === 'tokens_limited')
      throw tooManyTokens(payer.key?.tokensPerMinute ?? 0, answer.nextFreeMs);
    if (answer.outcome !== 'admitted') throw tooManyCalls(callsPerUserMax);
    return answer;
  }

  async function beginAnyway(requested: ReservationRequest): Promise<void> {
    const answer = await store.admit({
      knownEpoch: ANY_EPOCH,
      limits: [],
      call: withoutLimits(requested),
    });
    if (answer.outcome === 'busy') throw tooManyCalls(answer.callsMax);
  }

  function assertCovered(
    payer: Payer,
    requested: ReservationRequest,
    admitted: AdmittedAnswer,
    model: AdmissionModel,
  ) {
    if (mayBeSpent(payer, admitted)) return decide(payer, requested, admitted, model);
    if (!hasQuota(payer.tier)) return undefined;
    const { window, reserved } = admitted;
    if (window === undefined) return decide(payer, requested, admitted, model);
    return isDrained(payer.tier, withReserved(window, reserved))
      ? decide(payer, requested, admitted, model)
      : undefined;
  }

  async function coveredFallbacks(
    payer: Payer,
    requested: ReservationRequest,
    admitted: AdmittedAnswer,
    fallbacks: readonly FallbackModel[],
  ): Promise<readonly FallbackModel[]> {
    const covered: FallbackModel[] = [];
    for (const fallback of fallbacks) {
      const { model: named, resolved: model } = fallback;
      try {
        await assertCovered(payer, requested, admitted, { model, requested: named });
        covered.push(fallback);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
    }
    return covered;
  }

  return {
    requestReservation,
    ask,
    withWindow: (payer, admitted) =>
      admitted.window === undefined && hasQuota(payer.tier)
        ? readWindow(payer, admitted)
        : admitted,
    reservationOf,
    admitAgain,
    assertCovered,
    coveredFallbacks,
    payerOf: async (userId) => {
      const tier = (await stored.tierOf(userId)) ?? UNKNOWN_TIER;
      return { userId, groupId: null, multiplier: 1, tier };
    },
  };
}

/** Whether the budget is not known, or what is known of it refuses the request. */
function mayBeSpent(
  { key }: Payer,
  { budget, key: counts = NOTHING_COUNTED }: AdmittedAnswer,
): boolean {
  if (key === undefined || key.budgetUsd === null) return false;
  return budget === undefined || decideBudget(key.budgetUsd, budget, counts) !== 'admit';
}

/** The call with other limits of its key, if it has any. */
function withKey(requested: ReservationRequest, limits: Partial<KeyLimits>): ReservationRequest {
  const { reservation } = requested;
  if (reservation?.key === undefined) return requested;
  return { ...requested, reservation: { ...reservation, key: { ...reservation.key, ...limits } } };
}

const NOTHING_COUNTED = { reservedUsd: 0, unsettledUsd: 0, tokens: 0, nextFreeMs: 0 };
const ID_PREFIX_BYTES = 9;
const ANY_EPOCH = Number.MAX_SAFE_INTEGER;
const UNKNOWN_TIER: TierLimits = {
  name: '',
  monthlyUsdQuota: null,
  monthlyTokenQuota: null,
  rpm: null,
};
