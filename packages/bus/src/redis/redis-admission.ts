import {
  NOTHING_RESERVED,
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionStore,
  type ReservationEnd,
  type CountedRequests,
  type KeyCounts,
  type ReservationRequest,
  type ReservedAmounts,
} from '@model-gateway/billing';
import {
  accountKey,
  budgetKey,
  keptFacts,
  readAccount,
  readBudget,
  readWindow,
  windowKey,
} from '../admission-facts.ts';
import { NANO_USD, wholeAmount } from '../whole-amounts.ts';
import { ADMISSION } from './admission-script.ts';
import { redisCounterKey } from './redis-counters.ts';
import type { RedisConnection } from './redis-connection.ts';
import { listOf } from './script.ts';

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

const CALL_KEPT_MS = 15 * 60_000;
const RETRY_MS = 1_000;
// More than that happens only while Redis is unavailable; what is dropped expires by itself.
const UNSENT_MAX = 10_000;
// How many facts or settled calls one step writes: Redis does nothing else meanwhile.
const AT_ONCE_MAX = 200;
/** The name of a fact that nobody asks for. */
const NO_FACT = 'none';

/** Limits, calls and facts that all processes on one Redis share, on the clock of Redis. */
export function createRedisAdmission(options: RedisAdmissionOptions): RedisAdmission {
  const { connection, prefix, epochCounter, callKeptMs = CALL_KEPT_MS } = options;
  const epochKey = redisCounterKey(prefix, epochCounter);
  const factKey = (name = NO_FACT): string => `${prefix}fact:${name}`;
  /** Ends that Redis did not take. Sending one again is harmless if it had arrived. */
  const unsent: ReservationEnd[] = [];
  let retry: NodeJS.Timeout | undefined;
  let lastEnd = Promise.resolve();

  function run(
    step: 'admit' | 'finish' | 'update',
    keys: readonly string[],
    asked: object,
  ): Promise<unknown> {
    const values = [prefix, String(callKeptMs), step, JSON.stringify(asked)];
    return connection.run((client) =>
      ADMISSION.run(client, [`${prefix}calls-due`, ...keys], values),
    );
  }

  function keep(end: ReservationEnd): void {
    if (unsent.push(end) > UNSENT_MAX) unsent.shift();
    retry ??= setTimeout(sendAgain, RETRY_MS).unref();
  }

  function sendAgain(): void {
    clearTimeout(retry);
    retry = undefined;
    for (const end of unsent.splice(0)) endCall(end);
  }

  function endCall(end: ReservationEnd): void {
    if (!connection.commandsReady()) return keep(end);
    lastEnd = run('finish', [], askedEnd(end)).then(
      () => undefined,
      () => keep(end),
    );
  }

  return {
    async admit(request) {
      const { window, account, budget, call, renews = false } = request;
      const names = [
        window && windowKey(window),
        account && accountKey(account),
        budget && budgetKey(budget),
      ];
      const keys = [epochKey, ...names.map(factKey)];
      try {
        return readAnswer(request, await run('admit', keys, askedRequest(request)));
      } catch (error) {
        // Redis may have begun the call and only the answer is missing: it begins elsewhere. One that was running before is
        // not ended.
        if (call !== undefined && !renews) {
          endCall({ ...call, endsCall: true, endsReservation: true });
        }
        throw error;
      }
    },
    endCall,
    async flush() {
      sendAgain();
      await lastEnd;
    },
    async updateHints(facts) {
      const kept = [...keptFacts(facts)];
      const settled = (facts.settled ?? []).map(({ userId, id }) => ({ user: userId, id }));
      while (kept.length + settled.length > 0) {
        const part = kept.splice(0, AT_ONCE_MAX);
        // Those that are settled come last: before that they count twice for a moment, but never not at all.
        const done = kept.length > 0 ? [] : settled.splice(0, AT_ONCE_MAX);
        await run(
          'update',
          part.map(({ name }) => factKey(name)),
          { facts: part, settled: done },
        );
      }
    },
  };
}

const amountsOf = ({ tokens, costUsd, points }: ReservedAmounts) => ({
  tokens: wholeAmount(tokens),
  nano: wholeAmount(costUsd * NANO_USD),
  points: wholeAmount(points),
});

const askedEnd = ({ id, userId, endsCall, endsReservation, usage, keyId }: ReservationEnd) => ({
  user: userId,
  id,
  endsCall,
  endsReservation,
  usage: usage && amountsOf(usage),
  keyId,
});

const askedRequest = ({ knownEpoch, limits, call }: AdmissionRequest) => ({
  epoch: knownEpoch,
  limits,
  call: call && askedReservation(call),
});

/** What is unlimited is left out. */
function askedReservation({ id, userId, callsMax, reservation }: ReservationRequest): object {
  if (reservation === undefined) return { user: userId, id, callsMax };
  const { tier, account, isPriced, key } = reservation;
  const asked = {
    ...amountsOf(reservation),
    usdQuota: tier.monthlyUsdQuota ?? undefined,
    tokenQuota: tier.monthlyTokenQuota ?? undefined,
    pool: accountKey(account),
    isPriced,
    key: key && {
      id: key.id,
      budgetUsd: key.budgetUsd ?? undefined,
      tokensPerMinute: key.tokensPerMinute ?? undefined,
    },
  };
  return { user: userId, id, callsMax, reservation: asked };
}

function readAnswer(request: AdmissionRequest, reply: unknown): AdmissionAnswer {
  const [outcome, facts, detail, counts, sums, ofKey] = listOf(reply);
  const [epochText, ...factTexts] = listOf(facts);
  const epoch = Number(epochText ?? 0);
  const window = readWindow(factTexts[0]);
  const counted = readCounted(counts);
  switch (outcome) {
    case 'stale':
      return { outcome, epoch };
    case 'limited': {
      const limit = request.limits[Number(detail)];
      if (limit === undefined) break;
      return { outcome, epoch, limit, window };
    }
    case 'busy':
      return { outcome, epoch, callsMax: request.call?.callsMax ?? 0, window, counted };
    case 'tokens_limited':
      return { outcome, epoch, nextFreeMs: Number(detail), counted };
    case 'passed': {
      const account = readAccount(factTexts[1]);
      const budget = ofKey === undefined ? undefined : readBudget(factTexts[2]);
      const key = ofKey === undefined ? undefined : readKeyCounts(ofKey);
      const held = { ...readSums(sums), hasBegun: detail === 1 };
      return { outcome: 'admitted', epoch, window, account, budget, key, ...held, counted };
    }
  }
  throw new TypeError('the admission script returned an unexpected reply');
}

const NO_SUMS = { reserved: NOTHING_RESERVED, unsettled: { tokens: 0, costUsd: 0 } };

function readSums(
  sums: unknown,
): Pick<Extract<AdmissionAnswer, { outcome: 'admitted' }>, 'reserved' | 'unsettled'> {
  if (sums === undefined) return NO_SUMS;
  const [tokens = 0, nano = 0, points = 0, usedTokens = 0, usedNano = 0] = listOf(sums).map(Number);
  return {
    reserved: { tokens, costUsd: nano / NANO_USD, points },
    unsettled: { tokens: usedTokens, costUsd: usedNano / NANO_USD },
  };
}

function readKeyCounts(counts: unknown): KeyCounts {
  const [nano = 0, usedNano = 0, tokens = 0, nextFreeMs = 0] = listOf(counts).map(Number);
  return { reservedUsd: nano / NANO_USD, unsettledUsd: usedNano / NANO_USD, tokens, nextFreeMs };
}

/** Two values for each limit. */
function readCounted(counts: unknown): readonly CountedRequests[] {
  const values = listOf(counts).map(Number);
  const counted: CountedRequests[] = [];
  for (let at = 0; at < values.length; at += 2) {
    counted.push({ count: values[at] ?? 0, nextFreeMs: values[at + 1] ?? 0 });
  }
  return counted;
}
