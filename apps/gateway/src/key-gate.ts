import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyCache, KeyGrant, KnownGrant } from '@model-gateway/accounts';
import {
  windowOf,
  type AdmissionAnswer,
  type AdmissionStore,
  type DrawingAccount,
  type RequestLimit,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { answerText, bearerOf } from '@model-gateway/http';
import {
  drawingAccountOf,
  hasQuota,
  type Caller,
  type Payer,
  type QuotaHints,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { RequestLimiter } from './request-limiter.ts';

/** Somebody with a key, before the shared limits have been asked. */
export interface Entrant {
  readonly secret: string;
  readonly known: KnownGrant;
}

/** Somebody who may be served, as far as keys and limits go. */
export interface Admitted {
  readonly caller: Caller;
  readonly payer: Payer;
  /** What the store knew of the quota, which depends on the model as well. */
  readonly hints: QuotaHints;
}

/** Lets requests with a valid API key through: two steps, so that a body can be read while the store is asked. */
export interface KeyGate {
  /** Knows a key and keeps to the limit of this process; or answers itself, in plain text, and yields nothing. */
  recognise(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Entrant | undefined> | Entrant | undefined;
  /** The same for what counts in no limit of a tier: the key is as good as it gets without the second step. */
  read(request: IncomingMessage, response: ServerResponse): Promise<Entrant | undefined>;
  /** Counts the request in the limits of its tier and group; yields nothing when the key turned out to be no longer good. */
  admit(entrant: Entrant, response: ServerResponse): Promise<Admitted | undefined>;
}

/** What a grant means for a request. */
interface GrantFacts extends Omit<Admitted, 'hints'> {
  readonly limits: readonly RequestLimit[];
  /** What pays after the quota; undefined where no quota is set. */
  readonly account: DrawingAccount | undefined;
}

interface KeyGateDependencies {
  readonly keys: Pick<KeyCache, 'find' | 'recall'>;
  readonly limiter: RequestLimiter;
  readonly admission: Pick<AdmissionStore, 'admit'>;
  readonly clock: Clock;
}

export const LIMITED_TEXT = 'Rate limit exceeded. Try again later.';

const MISSING_TEXT = 'Missing Authorization header. Use: Bearer <api_key>';
const INVALID_TEXT = 'Invalid API key';
const RETRY_AFTER_SECS = 60;
/** How often a key is looked up anew for one request, when something changes each time. */
const LOOKUPS_MAX = 3;

export function createKeyGate(dependencies: KeyGateDependencies): KeyGate {
  const { keys, limiter, admission, clock } = dependencies;
  /** A grant is asked for what it says with every request, as long as it is remembered. */
  const facts = new WeakMap<KeyGrant, GrantFacts>();

  function limited(known: KnownGrant, secret: string): Entrant | undefined {
    return limiter.admits(known.grant.holder.keyId) ? { secret, known } : undefined;
  }

  async function lookUp(secret: string, response: ServerResponse): Promise<Entrant | undefined> {
    const known = await keys.find(secret);
    if (known === undefined) return refuse(response, 401, INVALID_TEXT);
    return limited(known, secret) ?? refuse(response, 429, LIMITED_TEXT);
  }

  /** A key that was only remembered has to be good before it can be told that it asks too often. */
  async function refuseLimited(secret: string, response: ServerResponse): Promise<undefined> {
    const known = await keys.find(secret);
    if (known === undefined) return refuse(response, 401, INVALID_TEXT);
    return refuse(response, 429, LIMITED_TEXT);
  }

  function ask({ grant, epoch }: KnownGrant): Promise<AdmissionAnswer> {
    const { limits, account } = factsOf(grant);
    const window =
      account === undefined ? undefined : windowOf(grant.holder, new Date(clock.now()));
    return admission.admit({ knownEpoch: epoch, limits, window, account });
  }

  function factsOf(grant: KeyGrant): GrantFacts {
    const known = facts.get(grant);
    if (known !== undefined) return known;
    const read = readGrant(grant);
    facts.set(grant, read);
    return read;
  }

  return {
    async read(request, response) {
      const secret = bearerOf(request);
      return secret === undefined ? refuse(response, 401, MISSING_TEXT) : lookUp(secret, response);
    },

    recognise(request, response) {
      const secret = bearerOf(request);
      if (secret === undefined) return refuse(response, 401, MISSING_TEXT);
      const known = keys.recall(secret);
      if (known === undefined) return lookUp(secret, response);
      return limited(known, secret) ?? refuseLimited(secret, response);
    },

    async admit({ secret, known: remembered }, response) {
      let known = remembered;
      let answer = await ask(known);
      for (let lookups = 1; answer.outcome === 'stale'; lookups += 1) {
        const found = await keys.find(secret);
        if (found === undefined) return refuse(response, 401, INVALID_TEXT);
        // One that was looked up so often is new enough, whatever else goes on.
        known = lookups < LOOKUPS_MAX ? found : { ...found, epoch: Number.MAX_SAFE_INTEGER };
        answer = await ask(known);
      }
      // Fewer changes than were known of: whoever counts them began anew.
      if (answer.epoch < remembered.epoch && (await keys.find(secret)) === undefined) {
        return refuse(response, 401, INVALID_TEXT);
      }
      if (answer.outcome === 'limited') throw tooMany(answer.limit);
      const { caller, payer } = factsOf(known.grant);
      return { caller, payer, hints: answer };
    },
  };
}

/** Answers in plain text, as the convention of keys has it. */
export function refuse(response: ServerResponse, status: number, text: string): undefined {
  answerText(response, status, text);
}

function limitsOf({ holder, limits }: KeyGrant): readonly RequestLimit[] {
  const all: RequestLimit[] = [];
  const { groupRpm, tier } = limits;
  if (tier.rpm !== null) all.push({ name: `key:${holder.keyId}`, requestsPerMinute: tier.rpm });
  if (holder.groupId !== null && groupRpm !== null) {
    all.push({ name: `group:${holder.groupId}`, requestsPerMinute: groupRpm });
  }
  return all;
}

function tooMany({ name, requestsPerMinute }: RequestLimit): ServiceError {
  const whose = name.startsWith('group:') ? 'your group' : 'your tier';
  return new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: ${whose} allows ${requestsPerMinute} requests per minute`,
    { details: { retry_after_secs: RETRY_AFTER_SECS } },
  );
}

function readGrant(grant: KeyGrant): GrantFacts {
  const { holder, limits, modelPolicy } = grant;
  const { userId, keyId, keyPrefix, project, groupId } = holder;
  const multiplier = groupId === null ? 1 : limits.costMultiplier;
  return {
    caller: { userId, keyId, apiKeyId: keyPrefix, project, groupId, multiplier, modelPolicy },
    payer: { userId, keyId, project, groupId, multiplier, tier: limits.tier },
    limits: limitsOf(grant),
    account: hasQuota(limits.tier) ? drawingAccountOf(holder) : undefined,
  };
}
