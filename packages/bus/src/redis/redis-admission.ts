import {
  NOTHING_RESERVED,
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionStore,
  type BudgetWindow,
  type CallEnd,
  type CountedRequests,
  type DrawingAccount,
  type KeyCounts,
  type QuotaWindow,
  type RequestedReservation,
  type ReservedAmounts,
  type SettledCall,
} from '@model-gateway/billing';
import {
  accountKey,
  budgetKey,
  keptFacts,
  readAccount,
  readBudget,
  readWindow,
  windowKey,
  type KeptFact,
} from '../admission-facts.ts';
import { createTurnBatch } from '../turn-batch.ts';
import { NANO_USD, wholeAmount } from '../whole-amounts.ts';
import { ADMIT } from './admission-script.ts';
import { createPendingEnds } from './pending-ends.ts';
import { redisCounterKey } from './redis-counters.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';
import { TALLY_LUA } from './tally-lua.ts';

/** Admission on Redis. */
export interface RedisAdmission extends AdmissionStore {
  /** Resolves when the calls that have ended so far are removed, or that failed. */
  flush(): Promise<void>;
}

interface RedisAdmissionOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  /** The counter of account changes. */
  readonly epochCounter: string;
  /** After this time a call that was not ended ends by itself. */
  readonly callKeptMs?: number | undefined;
}

/** The keys that a batch of requests reads, the epoch first, and for each request the positions of its facts. */
interface ReadableFacts {
  readonly keys: readonly string[];
  readonly windows: readonly number[];
  readonly accounts: readonly number[];
  readonly budgets: readonly number[];
}

/** The position of the epoch, where no fact can be. */
const NOT_ASKED = 0;
// How many requests one script admits: few enough for the command timeout and the stack of Lua.
const ADMIT_AT_ONCE = 128;
const CALL_KEPT_MS = 15 * 60_000;
const PASSED = -1;
const BUSY = -2;
const TOKENS_LIMITED = -3;
const FACTS_PER_CALL_MAX = 200;

// A fact begins with its version. Keys: those of the facts. Values: the prefix of all other keys; for each fact the fact, and
// how and when it expires; the user and the id of each settled call. In one step, so that no usage counts twice.
const UPDATE_HINTS = script(`
${TALLY_LUA}
local function version(fact) return tonumber(string.match(fact, '^%d+')) end
for index, key in ipairs(KEYS) do
  local fact, expiry, at = ARGV[index * 3 - 1], ARGV[index * 3], ARGV[index * 3 + 1]
  local held = redis.call('GET', key)
  if not held or version(held) < version(fact) then redis.call('SET', key, fact, expiry, at) end
end
for index = #KEYS * 3 + 2, #ARGV, 2 do
  local id = ARGV[index + 1]
  local tally = tallyOf(ARGV[1] .. 'calls:' .. ARGV[index], id)
  local entry = tally.calls[id]
  if entry then release(ARGV[1] .. 'reserved:', tally, id, entry, (struct.unpack(CALL, entry))) end
end
saveAll()
`);

/** Limits, calls and facts that all processes on one Redis share, on the clock of Redis. */
export function createRedisAdmission(options: RedisAdmissionOptions): RedisAdmission {
  const { connection, prefix, epochCounter, callKeptMs = CALL_KEPT_MS } = options;
  const ends = createPendingEnds({ connection, send: async (batch) => void (await run(batch)) });
  const epochKey = redisCounterKey(prefix, epochCounter);
  const factKey = (name: string): string => `${prefix}admission:${name}`;

  /** Each key once: concurrent requests often share an account. Known by ids, since making and hashing names takes longer. */
  function askedFacts(requests: readonly AdmissionRequest[]): ReadableFacts {
    const keys = [epochKey];
    const add = (name: string): number => keys.push(factKey(name)) - 1;
    const ofUsers = new Map<string, { readonly month: string; readonly place: number }>();
    const ofAccounts = { user: new Map<string, number>(), group: new Map<string, number>() };

    function windowPlace(window: QuotaWindow): number {
      const { userId, month } = window;
      const known = ofUsers.get(userId);
      if (known?.month === month) return known.place;
      const place = add(windowKey(window));
      ofUsers.set(userId, { month, place });
      return place;
    }

    function accountPlace(account: DrawingAccount): number {
      const known = ofAccounts[account.type].get(account.id);
      if (known !== undefined) return known;
      const place = add(accountKey(account));
      ofAccounts[account.type].set(account.id, place);
      return place;
    }

    const ofBudgets = new Map<string, number>();
    function budgetPlace(budget: BudgetWindow): number {
      const name = budgetKey(budget);
      const place = ofBudgets.get(name) ?? add(name);
      ofBudgets.set(name, place);
      return place;
    }

    const windows: number[] = [];
    const accounts: number[] = [];
    const budgets: number[] = [];
    for (const { window, account, budget } of requests) {
      windows.push(window === undefined ? NOT_ASKED : windowPlace(window));
      accounts.push(account === undefined ? NOT_ASKED : accountPlace(account));
      budgets.push(budget === undefined ? NOT_ASKED : budgetPlace(budget));
    }
    return { keys, windows, accounts, budgets };
  }

  /** Calls that end, and requests. */
  async function run(
    ended: readonly CallEnd[],
    requests: readonly AdmissionRequest[] = [],
    facts: ReadableFacts = askedFacts(requests),
  ): Promise<readonly unknown[]> {
    let endLines = '';
    for (const end of ended) endLines += endValue(end);
    let requestLines = '';
    for (const [index, request] of requests.entries()) {
      requestLines += requestValue(request, {
        window: facts.windows[index],
        account: facts.accounts[index],
        budget: facts.budgets[index],
      });
    }
    const values = [prefix, String(callKeptMs), endLines, requestLines];
    const answer = await connection.run((client) => ADMIT.run(client, facts.keys, values));
    const parts: readonly unknown[] = Array.isArray(answer) ? answer : [];
    return parts;
  }

  async function admitAll(
    requests: readonly AdmissionRequest[],
  ): Promise<readonly AdmissionAnswer[]> {
    const facts = askedFacts(requests);
    const ended = ends.take();
    // Without anything to count no script is needed.
    const counts = requests.some(({ limits, call }) => limits.length > 0 || call !== undefined);
    try {
      const [stored, outcomes] =
        counts || ended.length > 0
          ? await run(ended, requests, facts)
          : [await connection.run((client) => client.mget(...facts.keys)), []];
      return readAnswers(requests, facts, stored, outcomes);
    } catch (error) {
      // Redis may have run the script and only the answer is missing: the calls begin elsewhere.
      ends.putBack([...ended, ...requests.flatMap(undoing)]);
      throw error;
    }
  }

  async function write(facts: readonly KeptFact[], settled: readonly SettledCall[]): Promise<void> {
    if (facts.length + settled.length === 0) return;
    const keys = facts.map(({ name }) => factKey(name));
    const values = [prefix];
    for (const { fact, expiry } of facts) values.push(fact, ...expiry);
    for (const { id, userId } of settled) values.push(userId, id);
    await connection.run((client) => UPDATE_HINTS.run(client, keys, values));
  }

  return {
    admit: createTurnBatch(admitAll, ADMIT_AT_ONCE),
    endCall: (end) => ends.add(end),
    flush: () => ends.flush(),
    async updateHints(facts) {
      const kept = keptFacts(facts);
      const { settled = [] } = facts;
      // Those that are settled come last: before that they count twice for a moment, but never not at all.
      const first = Math.max(kept.length - FACTS_PER_CALL_MAX, 0);
      for (let at = 0; at < first; at += FACTS_PER_CALL_MAX) {
        await write(kept.slice(at, Math.min(at + FACTS_PER_CALL_MAX, first)), []);
      }
      await write(kept.slice(first), settled.slice(0, FACTS_PER_CALL_MAX));
      for (let at = FACTS_PER_CALL_MAX; at < settled.length; at += FACTS_PER_CALL_MAX) {
        await write([], settled.slice(at, at + FACTS_PER_CALL_MAX));
      }
    },
  };
}

/** The epoch and the facts in the order of their keys, and the outcome of each request. */
function readAnswers(
  requests: readonly AdmissionRequest[],
  { windows, accounts, budgets }: ReadableFacts,
  stored: unknown,
  outcomes: unknown,
): readonly AdmissionAnswer[] {
  if (!Array.isArray(stored) || !Array.isArray(outcomes)) {
    throw new TypeError('the admission script returned an unexpected reply');
  }
  const epoch = Number(stored[0] ?? 0);
  const window = readOnce(stored, readWindow);
  const account = readOnce(stored, readAccount);
  const budget = readOnce(stored, readBudget);
  return requests.map((request, index) => {
    if (epoch > request.knownEpoch) return { outcome: 'stale', epoch };
    const outcome: unknown = outcomes[index] ?? PASSED;
    const limit = typeof outcome === 'number' ? request.limits[outcome] : undefined;
    const ofMonth = window(windows[index]);
    if (limit !== undefined) return { outcome: 'limited', epoch, limit, window: ofMonth };
    const values: readonly unknown[] = Array.isArray(outcome) ? outcome : NO_VALUES;
    if (values[0] === BUSY) {
      const callsMax = request.call?.callsMax ?? 0;
      const counted = readCounted(outcome, 1);
      return { outcome: 'busy', epoch, callsMax, window: ofMonth, counted };
    }
    if (values[0] === TOKENS_LIMITED) {
      const counted = readCounted(outcome, 2);
      return { outcome: 'tokens_limited', epoch, nextFreeMs: Number(values[1]), counted };
    }
    const hasKeyLimits = request.call?.reservation?.key !== undefined;
    const { reserved, unsettled, hasBegun } = readReserved(outcome);
    return {
      outcome: 'passed',
      epoch,
      window: ofMonth,
      account: account(accounts[index]),
      budget: hasKeyLimits ? budget(budgets[index]) : undefined,
      key: hasKeyLimits ? readKeyCounts(outcome) : undefined,
      reserved,
      unsettled,
      hasBegun,
      counted: request.limits.length === 0 ? NOT_COUNTED : readCounted(outcome, AMOUNTS),
    };
  });
}

/** A line for each field. */
function endValue({ userId, id, endsCall, endsReservation, usage, keyId = '' }: CallEnd): string {
  const ends = `${userId}\n${id}\n${endsCall ? 1 : 0}\n`;
  if (usage === undefined) return `${ends}${endsReservation ? 1 : 0}\n0\n0\n0\n\n`;
  return `${ends}2\n${amountLines(usage)}${keyId}\n`;
}

function requestValue(
  { knownEpoch, limits, call }: AdmissionRequest,
  { window, account, budget }: Places,
): string {
  let value = `${knownEpoch}\n`;
  if (call === undefined) value += NO_CALL;
  else {
    const { id, userId, callsMax, reservation } = call;
    value += `${id}\n${userId}\n${callsMax}\n`;
    value += reservation === undefined ? NO_RESERVATION_LINES : reservationLines(reservation);
    value += `${placeValue(window)}\n${placeValue(account)}\n`;
    value +=
      reservation === undefined
        ? '\n\n'
        : `${poolName(userId, reservation.account)}\n${keyValue(reservation, budget)}\n`;
  }
  for (const { name, requestsPerMinute } of limits) value += `${name}\n${requestsPerMinute}\n`;
  return `${value}\r`;
}

/** The positions of the facts of a request. */
interface Places {
  readonly window: number | undefined;
  readonly account: number | undefined;
  readonly budget: number | undefined;
}

/** Empty without limits of the key. */
function keyValue({ key }: RequestedReservation, budget: number | undefined): string {
  if (key === undefined) return '';
  const { id, tokensPerMinute, budgetUsd } = key;
  const place = budgetUsd === null ? 0 : placeValue(budget);
  return `${id} ${tokensPerMinute ?? ''} ${budgetUsd ?? ''} ${place}`;
}

const NO_VALUES: readonly unknown[] = [];
const NO_CALL = '\n'.repeat(13);
const NO_RESERVATION_LINES = '\n'.repeat(6);

const amountLines = ({ tokens, costUsd, points }: ReservedAmounts): string =>
  `${wholeAmount(tokens)}\n${wholeAmount(costUsd * NANO_USD)}\n${wholeAmount(points)}\n`;

/** Empty for the wallet of the user: its points are in the same hash as the calls. */
const poolName = (userId: string, account: DrawingAccount): string =>
  account.type === 'user' && account.id === userId ? '' : accountKey(account);

/** The amounts, and what decides about them. */
function reservationLines(reservation: RequestedReservation): string {
  const { monthlyUsdQuota, monthlyTokenQuota } = reservation.tier;
  const quotas = `${monthlyUsdQuota ?? ''}\n${monthlyTokenQuota ?? ''}\n`;
  return `${amountLines(reservation)}${quotas}${reservation.isPriced ? 1 : 0}\n`;
}

/** Lua counts from 1, and 0 is no position. */
const placeValue = (place = NOT_ASKED): number => (place === NOT_ASKED ? 0 : place + 1);

/** The values of a reservation, with whether its call began. */
const AMOUNTS = 6;

const NO_RESERVATION = {
  reserved: NOTHING_RESERVED,
  unsettled: { tokens: 0, costUsd: 0 },
  hasBegun: true,
};

function readReserved(
  outcome: unknown,
): Pick<Extract<AdmissionAnswer, { outcome: 'passed' }>, 'reserved' | 'unsettled' | 'hasBegun'> {
  if (!Array.isArray(outcome)) return NO_RESERVATION;
  const at = (place: number): number => Number(outcome[place] ?? 0);
  return {
    reserved: { tokens: at(1), costUsd: at(2) / NANO_USD, points: at(3) },
    unsettled: { tokens: at(4), costUsd: at(5) / NANO_USD },
    hasBegun: at(0) === 1,
  };
}

const NOT_COUNTED: readonly CountedRequests[] = [];

/** The last value: a list of its own. */
function readKeyCounts(outcome: unknown): KeyCounts | undefined {
  const counts: unknown = Array.isArray(outcome) ? outcome.at(-1) : undefined;
  if (!Array.isArray(counts)) return undefined;
  const at = (place: number): number => Number(counts[place] ?? 0);
  return {
    reservedUsd: at(0) / NANO_USD,
    unsettledUsd: at(1) / NANO_USD,
    tokens: at(2),
    nextFreeMs: at(3),
  };
}

/** Two values for each limit, behind others. */
function readCounted(outcome: unknown, first: number): readonly CountedRequests[] {
  if (!Array.isArray(outcome)) return NOT_COUNTED;
  const counted: CountedRequests[] = [];
  for (let at = first; at + 1 < outcome.length; at += 2)
    counted.push({ count: Number(outcome[at]), nextFreeMs: Number(outcome[at + 1]) });
  return counted;
}

/** Ends a call that may have begun, but none that was running before. */
function undoing({ call, renews = false }: AdmissionRequest): readonly CallEnd[] {
  if (call === undefined || renews) return [];
  const { id, userId } = call;
  return [{ id, userId, endsCall: true, endsReservation: true, isUrgent: false }];
}

/** Reads each fact once, however many requests share it. */
function readOnce<Fact>(stored: readonly unknown[], read: (fact: unknown) => Fact | undefined) {
  const facts: (Fact | undefined)[] = [];
  return (place = NOT_ASKED): Fact | undefined => {
    if (place === NOT_ASKED) return undefined;
    facts[place] ??= read(stored[place]);
    return facts[place];
  };
}
