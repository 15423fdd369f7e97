import type { FailedRequest, UsageEvent } from '@model-gateway/contracts';
import { pick, randomFrom, upTo, type Random } from '@model-gateway/testkit';

/** When the questions are asked. */
export const NOW = new Date('2025-04-02T10:40:07.250Z');

const idOf = (kind: string, number: number): string =>
  `00000000-0000-4000-8000-${kind}${number.toString(16).padStart(11, '0')}`;

/** The first one is the admin; nobody has the last account any more. */
export const USERS = {
  admin: idOf('a', 1),
  bob: idOf('a', 2),
  cat: idOf('a', 3),
  dan: idOf('a', 4),
  idle: idOf('a', 5),
  gone: idOf('a', 6),
} as const;

export const GROUPS = { shop: idOf('c', 1), lab: idOf('c', 2) } as const;

/** What a request takes from its key; without a key, it came with an access token. */
export interface Caller {
  readonly userId: string;
  readonly keyId: string | null;
  readonly groupId: string | null;
  readonly project: string | null;
}

const withToken = (userId: string): Caller => ({
  userId,
  keyId: null,
  groupId: null,
  project: null,
});

/** The keys that exist. */
export const KEYS = {
  admin: { userId: USERS.admin, keyId: idOf('b', 1), groupId: null, project: 'default' },
  bob: { userId: USERS.bob, keyId: idOf('b', 2), groupId: null, project: 'default' },
  bobShop: { userId: USERS.bob, keyId: idOf('b', 3), groupId: GROUPS.shop, project: 'shop' },
  cat: { userId: USERS.cat, keyId: idOf('b', 4), groupId: null, project: 'ärger' },
  catShop: { userId: USERS.cat, keyId: idOf('b', 5), groupId: GROUPS.shop, project: 'shop' },
  catLab: { userId: USERS.cat, keyId: idOf('b', 6), groupId: GROUPS.lab, project: 'default' },
  dan: { userId: USERS.dan, keyId: idOf('b', 7), groupId: GROUPS.lab, project: 'shop' },
} as const satisfies Record<string, Caller & { readonly project: string }>;

export const DELETED_KEY = idOf('b', 99);

const CALLERS: readonly Caller[] = [
  ...Object.values(KEYS),
  withToken(USERS.bob),
  withToken(USERS.dan),
  withToken(USERS.gone),
  { userId: USERS.dan, keyId: DELETED_KEY, groupId: null, project: 'default' },
  { userId: USERS.gone, keyId: idOf('b', 98), groupId: GROUPS.lab, project: 'old' },
];

const MODELS = ['gpt-4o', 'demo-chat', 'llama:8b', 'ärger'] as const;
const UPSTREAMS = ['one', 'two', 'west'] as const;
const SURFACES = ['gateway', 'gateway', 'rpc', 'realtime'] as const;
const REFS = ['order-1', 'order-2', 'order-3', '100%', 'ärger'] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2025, 0, 1);

/** The ends of months, days and hours, more exact than a millisecond, and an hour that a local clock skips. */
const EDGES = [
  '2024-12-31T23:59:59.999Z',
  '2025-01-01T00:00:00.000Z',
  '2025-01-31T23:00:00.000Z',
  '2025-01-31T23:59:59.999Z',
  '2025-02-01T00:00:00.000Z',
  '2025-02-14T12:00:00.123456Z',
  '2025-02-14T12:00:00.123457Z',
  '2025-02-28T23:59:59.999999Z',
  '2025-03-01T00:00:00.000Z',
  '2025-03-01T00:00:00.001Z',
  '2025-03-30T01:30:00.000Z',
  '2025-03-31T23:59:59.999Z',
  '2025-04-01T00:00:00.000Z',
  '2025-04-02T10:00:00.000Z',
  '2025-04-02T10:40:07.249Z',
] as const;

/** A quarter lies on an edge, in the last 30 hours, in the days around the first of March, and anywhere. */
function momentFrom(random: Random): string {
  const within = (start: number, end: number): string =>
    new Date(start + Math.floor(random() * (end - start))).toISOString();
  const now = NOW.getTime();
  switch (upTo(random, 4)) {
    case 1:
      return pick(random, EDGES);
    case 2:
      return within(now - 30 * HOUR_MS, now);
    case 3:
      return within(Date.UTC(2025, 1, 27), Date.UTC(2025, 2, 3));
    default: {
      const days = (now - START_MS) / DAY_MS;
      // Whole hours are as usual as other times.
      const hour = START_MS + Math.floor(random() * days * 24) * HOUR_MS;
      return random() < 0.5 ? new Date(hour).toISOString() : within(hour, hour + HOUR_MS);
    }
  }
}

const sometimes = <Value>(random: Random, chance: number, value: () => Value): Value | null =>
  random() < chance ? value() : null;

/** In steps that any order adds up to the same sum. */
const costFrom = (random: Random): number | null =>
  random() < 0.15 ? null : Math.floor(random() * 96) / 256;

function eventFrom(random: Random, number: number): UsageEvent {
  const caller = pick(random, CALLERS);
  const promptTokens = upTo(random, 400);
  const completionTokens = upTo(random, 90) - 1;
  const isOld = random() < 0.1;
  const status = pick(random, [200, 200, 200, 200, 200, 499, 499, 502]);
  return {
    id: idOf('e', number),
    ...callerFields(caller),
    model: pick(random, MODELS),
    backend: pick(random, SURFACES),
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cost: costFrom(random),
    multiplier: caller.groupId === null ? 1 : pick(random, [0, 1, 1.5]),
    ref_id: sometimes(random, 0.4, () => pick(random, REFS)),
    created_at: momentFrom(random),
    // Events of earlier versions have nothing else.
    ...(isOld ? {} : laterFields(random, { promptTokens, status })),
  };
}

const callerFields = ({ userId, keyId, groupId, project }: Caller) => ({
  user_id: userId,
  key_id: keyId,
  group_id: groupId,
  project,
  api_key_id: keyId === null ? `jwt-${userId}` : 'service-',
});

function laterFields(
  random: Random,
  { promptTokens, status }: { readonly promptTokens: number; readonly status: number },
): Partial<UsageEvent> {
  return {
    upstream: sometimes(random, 0.9, () => pick(random, UPSTREAMS)),
    status,
    cached_tokens: sometimes(random, 0.4, () => Math.floor(promptTokens / 2)),
    cache_write_tokens: sometimes(random, 0.2, () => Math.floor(promptTokens / 3)),
    cached: random() < 0.1,
    latency_ms: upTo(random, 900),
    first_token_ms: sometimes(random, 0.5, () => upTo(random, 300)),
    images: sometimes(random, 0.05, () => upTo(random, 4)),
    audio_seconds: sometimes(random, 0.05, () => upTo(random, 600) / 4),
    request_id: sometimes(random, 0.2, () => `client-${upTo(random, 20)}`),
    attempts: sometimes(random, 0.1, () => [
      { backend: 'two', model: 'm', outcome: 'failed', reason: 'rate_limited', status: 429, ms: 3 },
      { backend: 'one', model: 'm', outcome: 'answered', reason: null, status: null, ms: 5 },
    ]),
  };
}

const FAILURES = [
  { status: 429, errorCode: 'rate_limit_exceeded', isKnown: true },
  { status: 400, errorCode: 'invalid_body', isKnown: true },
  { status: 403, errorCode: 'model_not_allowed', isKnown: true },
  { status: 503, errorCode: 'overloaded', isKnown: true },
  { status: 404, errorCode: 'model_not_found', isKnown: false },
] as const;

function failureFrom(random: Random, number: number): FailedRequest {
  const caller = pick(random, CALLERS);
  const { status, errorCode, isKnown } = pick(random, FAILURES);
  const model = isKnown ? pick(random, MODELS) : `invented-${upTo(random, 3)}`;
  return {
    id: idOf('f', number),
    createdAt: new Date(momentFrom(random)),
    userId: caller.userId,
    keyId: caller.keyId,
    groupId: caller.groupId,
    project: caller.project,
    apiKeyId: callerFields(caller).api_key_id,
    backend: pick(random, SURFACES),
    model: status === 400 ? null : model,
    countedModel: isKnown && status !== 400 ? model : '',
    upstream: status === 503 ? pick(random, UPSTREAMS) : null,
    refId: sometimes(random, 0.3, () => pick(random, REFS)),
    latencyMs: sometimes(random, 0.8, () => upTo(random, 90)),
    status,
    errorCode,
    error: `refused with ${status}`,
    requestId: sometimes(random, 0.2, () => `client-${upTo(random, 20)}`),
    attempts: status === 503 ? [] : null,
    repeats: random() < 0.7 ? 1 : upTo(random, 9),
  };
}

/** What is recorded one after another: metered requests, or failed ones. */
export type Batch =
  | { readonly events: readonly UsageEvent[] }
  | { readonly failures: readonly FailedRequest[] };

const SEED = 20_250_402;
const EVENTS = 900;
const FAILED = 160;
const BATCH_MAX = 60;

/** The same requests in every run, in batches of all sizes; some are delivered twice, in one batch or in two. */
export function seededBatches(): readonly Batch[] {
  const random = randomFrom(SEED);
  const events = Array.from({ length: EVENTS }, (_, index) => eventFrom(random, index + 1));
  const failures = Array.from({ length: FAILED }, (_, index) => failureFrom(random, index + 1));
  const batches: Batch[] = [];
  const takeFrom = <Item>(items: readonly Item[], start: number, count: number): Item[] => {
    const again = items.slice(Math.max(0, start - 3), start).filter(() => random() < 0.1);
    const taken = items.slice(start, start + count);
    return [...again, ...taken, ...taken.slice(0, 1).filter(() => random() < 0.1)];
  };
  for (let event = 0, failure = 0; event < EVENTS || failure < FAILED;) {
    const ofEvents = upTo(random, BATCH_MAX);
    if (event < EVENTS) batches.push({ events: takeFrom(events, event, ofEvents) });
    event += ofEvents;
    const ofFailures = upTo(random, BATCH_MAX / 3);
    if (failure < FAILED) batches.push({ failures: takeFrom(failures, failure, ofFailures) });
    failure += ofFailures;
  }
  return batches;
}
