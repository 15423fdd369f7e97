import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyCache, KeyGrant, KnownGrant } from '@model-gateway/accounts';
import {
  budgetWindowOf,
  windowOf,
  type AdmissionAnswer,
  type AdmissionStore,
  type DrawingAccount,
  type RequestedCall,
  type RequestLimit,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { apiKeyOf } from '@model-gateway/http';
import {
  drawingAccountOf,
  hasQuota,
  type Caller,
  tierRemedy,
  tooManyCalls,
  tooManyTokens,
  type PassedAdmission,
  type Payer,
  type Quotas,
  type RequestedAdmission,
  type Reservation,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { KeyChecks } from './key-checks.ts';
import {
  minuteTokenHeaders,
  reachedHeaders,
  requestHeaders,
  setLimitHeaders,
  tokenHeaders,
  type LimitHeaders,
} from './surface/limit-headers.ts';
import { refuse, refuseLimit } from './surface/refusals.ts';
import type { RequestLimiter } from './surface/request-limiter.ts';
import { traceRequest } from './traced-request.ts';

/** A request with a known API key whose shared limits have not been checked yet. */
export interface KeyedRequest {
  readonly secret: string;
  readonly known: KnownGrant;
}

/** A caller whose key is valid and whose limits allow the request. */
export interface AdmittedCaller {
  readonly caller: Caller;
  readonly payer: Payer;
  /** What the store knew about the quota; the decision also depends on the model. */
  readonly passed: PassedAdmission;
  /** For every response to the request. */
  readonly limitHeaders: LimitHeaders;
  /** How old a stored answer may be; null: the key has no cache. */
  readonly cacheTtlSecs: number | null;
  /** Undefined for a request that cannot be served: it only counts in the limits. */
  readonly held: HeldCall | undefined;
}

/** The call of an admitted request. The receiver ends its reservation. */
export interface HeldCall {
  readonly call: RequestedCall;
  readonly reservation: Reservation;
}

/** Checks API keys and limits in two steps, so that the body can be read while the store is queried. */
export interface KeyAuthenticator {
  /** Checks the key and the limit of this process. On refusal sends a plain-text response and returns undefined. */
  authenticate(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<KeyedRequest | undefined> | KeyedRequest | undefined;
  /** The same for requests that tier limits do not count: it checks the epoch itself, because `admit` does not follow. */
  authenticateOnly(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<KeyedRequest | undefined>;
  /**
   * Counts the request in the limits of its tier and group and begins its call; resolves to undefined when the key is no
   * longer valid. A request that has begun is not counted again, and its call goes on with what it reserves now.
   */
  admit(
    keyed: KeyedRequest,
    response: ServerResponse,
    requested: RequestedAdmission | undefined,
    begun?: AdmittedCaller,
  ): Promise<AdmittedCaller | undefined>;
}

/** What a request needs to know about its grant. */
interface GrantFacts extends Pick<AdmittedCaller, 'caller' | 'payer'> {
  readonly limits: readonly RequestLimit[];
  /** The account that pays when the quota is used up; undefined where no quota is set. */
  readonly account: DrawingAccount | undefined;
}

interface KeyAuthenticatorDependencies {
  readonly keys: Pick<KeyCache, 'find' | 'recall'>;
  readonly checks: KeyChecks;
  readonly limiter: RequestLimiter;
  readonly admission: Pick<AdmissionStore, 'admit'>;
  readonly quotas: Pick<Quotas, 'callOf' | 'reservationOf' | 'withWindow'>;
  readonly clock: Clock;
}

const MISSING_TEXT = 'Missing Authorization header. Use: Bearer <api_key>';
const INVALID_TEXT = 'Invalid API key';
const RETRY_AFTER_SECS = 60;
/** How often one request looks its key up again when the account changes each time. */
const LOOKUPS_MAX = 3;

export function createKeyAuthenticator(
  dependencies: KeyAuthenticatorDependencies,
): KeyAuthenticator {
  const { keys, checks, limiter, admission, quotas, clock } = dependencies;
  /** Derived once per cached grant, because every request needs them. */
  const facts = new WeakMap<KeyGrant, GrantFacts>();

  function limited(known: KnownGrant, secret: string): KeyedRequest | undefined {
    return limiter.admits(known.grant.holder.keyId) ? { secret, known } : undefined;
  }

  async function lookUp(
    secret: string,
    response: ServerResponse,
  ): Promise<KeyedRequest | undefined> {
    const known = await keys.find(secret);
    if (known === undefined) return refuse(response, INVALID_TEXT);
    traceRequest(response, factsOf(known.grant).caller);
    const refusal = checks.refusalOf(known.grant, response.req);
    if (refusal !== undefined) return refuse(response, refusal);
    return limited(known, secret) ?? refuseLimit(response, limiter, known.grant.holder.keyId);
  }

  /** A cached key may have been revoked: then the response is 401, not 429. */
  async function refuseLimited(secret: string, response: ServerResponse): Promise<undefined> {
    const known = await keys.find(secret);
    if (known === undefined) return refuse(response, INVALID_TEXT);
    return refuseLimit(response, limiter, known.grant.holder.keyId);
  }

  const callOf = ({ payer }: GrantFacts, requested: RequestedAdmission | undefined) =>
    requested === undefined ? undefined : quotas.callOf(payer, requested);

  function requestAdmission(
    { limits, account, payer }: GrantFacts,
    epoch: number,
    call: RequestedCall | undefined,
  ): Promise<AdmissionAnswer> {
    const window =
      account === undefined ? undefined : windowOf(payer.userId, new Date(clock.now()));
    const { id, budgetPeriod = null } = payer.key ?? {};
    const budget =
      id === undefined || budgetPeriod === null
        ? undefined
        : budgetWindowOf(id, budgetPeriod, new Date(clock.now()));
    return admission.admit({ knownEpoch: epoch, limits, window, account, budget, call });
  }

  /** What is left of the limits of a key, for a request that passed them or was refused by one. */
  function headersFor(
    { holder, settings, limits }: KeyGrant,
    shared: readonly RequestLimit[],
    answer: Exclude<AdmissionAnswer, { outcome: 'stale' }>,
  ): LimitHeaders {
    const requests =
      answer.outcome === 'limited'
        ? reachedHeaders(answer.limit.requestsPerMinute)
        : requestHeaders(limiter, holder.keyId, { limits: shared, counted: answer.counted });
    const tpm = settings.tpm ?? 0;
    if (answer.outcome === 'tokens_limited')
      return [...requests, ...minuteTokenHeaders(tpm, { ...answer, tokens: tpm })];
    if (answer.outcome === 'passed' && settings.tpm !== null && answer.key !== undefined)
      return [...requests, ...minuteTokenHeaders(tpm, answer.key)];
    if (limits.tier.monthlyTokenQuota === null) return requests;
    return requests.concat(tokenHeaders(limits.tier, answer, new Date(clock.now())));
  }

  function factsOf(grant: KeyGrant): GrantFacts {
    const cached = facts.get(grant);
    if (cached !== undefined) return cached;
    const derived = readGrant(grant);
    facts.set(grant, derived);
    return derived;
  }

  /** A request that has begun was counted in its limits. */
  const limitedFacts = (grant: KeyGrant, begun: AdmittedCaller | undefined): GrantFacts =>
    begun === undefined ? factsOf(grant) : { ...factsOf(grant), limits: [] };

  return {
    async authenticateOnly(request, response) {
      const secret = apiKeyOf(request);
      if (secret === undefined) return refuse(response, MISSING_TEXT);
      const keyed = await lookUp(secret, response);
      if (keyed !== undefined)
        setLimitHeaders(response, requestHeaders(limiter, keyed.known.grant.holder.keyId));
      return keyed;
    },

    authenticate(request, response) {
      const secret = apiKeyOf(request);
      if (secret === undefined) return refuse(response, MISSING_TEXT);
      const known = keys.recall(secret);
      if (known === undefined) return lookUp(secret, response);
      // A change may have lifted a refusal.
      if (checks.isRefused(known.grant, request)) return lookUp(secret, response);
      traceRequest(response, factsOf(known.grant).caller);
      return limited(known, secret) ?? refuseLimited(secret, response);
    },

    async admit({ secret, known: remembered }, response, requested, begun) {
      let known = remembered;
      let ofGrant = limitedFacts(known.grant, begun);
      let call = callOf(ofGrant, requested);
      let answer = await requestAdmission(ofGrant, known.epoch, call);
      for (let lookups = 1; answer.outcome === 'stale'; lookups += 1) {
        const found = await keys.find(secret);
        if (found === undefined) return refuse(response, INVALID_TEXT);
        const refusal = checks.refusalOf(found.grant, response.req);
        if (refusal !== undefined) return refuse(response, refusal);
        // After several lookups the grant counts as current, so that frequent changes cannot block a request.
        known = lookups < LOOKUPS_MAX ? found : { ...found, epoch: Number.MAX_SAFE_INTEGER };
        ofGrant = limitedFacts(known.grant, begun);
        call = callOf(ofGrant, requested);
        answer = await requestAdmission(ofGrant, known.epoch, call);
      }
      const { caller, payer, limits } = ofGrant;
      const reservation =
        answer.outcome === 'passed' &&
        call &&
        quotas.reservationOf(payer, call, begun?.held?.reservation);
      // A lower epoch than before means that the counter was reset.
      if (answer.epoch < remembered.epoch && (await keys.find(secret)) === undefined) {
        if (reservation) reservation.end();
        return refuse(response, INVALID_TEXT);
      }
      if (answer.outcome !== 'passed') {
        setLimitHeaders(response, headersFor(known.grant, limits, answer));
        throw refusalOf(answer, known.grant);
      }
      const completing = quotas.withWindow(payer, answer);
      const passed = completing instanceof Promise ? await completing : completing;
      const held = call && reservation ? { call, reservation } : undefined;
      const limitHeaders = begun?.limitHeaders ?? headersFor(known.grant, limits, passed);
      const { cacheTtlSecs } = known.grant.settings;
      return { caller, payer, passed, limitHeaders, cacheTtlSecs, held };
    },
  };
}

function limitsOf({ holder, limits, settings }: KeyGrant): readonly RequestLimit[] {
  const all: RequestLimit[] = [];
  const { groupRpm, tier } = limits;
  // Both count the requests of one key: the lower one decides.
  const rpm = Math.min(tier.rpm ?? Infinity, settings.rpm ?? Infinity);
  if (rpm < Infinity) all.push({ name: `key:${holder.keyId}`, requestsPerMinute: rpm });
  if (holder.groupId !== null && groupRpm !== null) {
    all.push({ name: `group:${holder.groupId}`, requestsPerMinute: groupRpm });
  }
  return all;
}

type RefusedAdmission = Exclude<AdmissionAnswer, { outcome: 'stale' | 'passed' }>;

function refusalOf(answer: RefusedAdmission, grant: KeyGrant): ServiceError {
  switch (answer.outcome) {
    case 'limited':
      return tooMany(answer.limit, grant);
    case 'tokens_limited':
      return tooManyTokens(grant.settings.tpm ?? 0, answer.nextFreeMs);
    case 'busy':
      return tooManyCalls(answer.callsMax);
  }
}

/** Says which limit it was, its value, and what lifts it. */
function tooMany(
  { name, requestsPerMinute }: RequestLimit,
  { limits, settings, owner }: KeyGrant,
): ServiceError {
  const [scope, remedy] = name.startsWith('group:')
    ? [
        'your group',
        'The rpm_ceiling of the group sets this limit; a group admin changes it with group.update.',
      ]
    : requestsPerMinute === settings.rpm
      ? [
          'this key',
          'Its rpm sets this limit. Its owner raises it: gateway keys update <key> --rpm <count>',
        ]
      : ['your tier', `The tier '${limits.tier.name}' sets this limit. ${tierRemedy(owner)}`];
  return new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: ${scope} allows ${requestsPerMinute} requests per minute. ${remedy}`,
    { details: { retry_after_secs: RETRY_AFTER_SECS } },
  );
}

/** Undefined where the key has neither a budget nor a limit of tokens. */
function payerKeyOf({ holder, settings }: KeyGrant): Payer['key'] {
  const { budgetUsd, budgetPeriod, tpm } = settings;
  if (budgetUsd === null && tpm === null) return undefined;
  return { id: holder.keyId, budgetUsd, budgetPeriod, tokensPerMinute: tpm };
}

function readGrant(grant: KeyGrant): GrantFacts {
  const { holder, limits, modelPolicy, owner } = grant;
  const { userId, keyId, keyPrefix, project, groupId } = holder;
  const multiplier = groupId === null ? 1 : limits.costMultiplier;
  return {
    caller: { userId, keyId, apiKeyId: keyPrefix, project, groupId, multiplier, modelPolicy },
    payer: { userId, groupId, multiplier, tier: limits.tier, user: owner, key: payerKeyOf(grant) },
    limits: limitsOf(grant),
    account: hasQuota(limits.tier) ? drawingAccountOf(holder) : undefined,
  };
}
