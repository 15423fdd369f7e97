import type {
  AccountState,
  AdmissionStore,
  RequestLimit,
  WindowUsage,
} from '@model-gateway/billing';
import type { Clock, Counters } from '@model-gateway/kernel';
import { accountName, windowName } from '../admission-facts.ts';
import { createBoundedExpiringMap, type BoundedExpiringMap } from './bounded-expiring-map.ts';

interface LocalAdmissionOptions {
  readonly clock: Clock;
  readonly counters: Pick<Counters, 'read'>;
  /** The counter of account changes. */
  readonly epochCounter: string;
  /** After this time a fact is read again. */
  readonly factKeptMs: number;
}

const LIMITED_MS = 60_000;
const LIMITS_MAX = 100_000;
const FACTS_MAX = 100_000;

/** Limits and facts inside one process. */
export function createLocalAdmission(options: LocalAdmissionOptions): AdmissionStore {
  const { clock, counters, epochCounter, factKeptMs } = options;
  const logs = createBoundedExpiringMap<number[]>({ clock, entriesMax: LIMITS_MAX });
  const windows = createBoundedExpiringMap<WindowUsage>({ clock, entriesMax: FACTS_MAX });
  const accounts = createBoundedExpiringMap<AccountState>({ clock, entriesMax: FACTS_MAX });

  function isReached({ name, requestsPerMinute }: RequestLimit, now: number): boolean {
    const log = logs.get(name)?.value ?? [];
    const counting = log.findIndex((time) => time > now - LIMITED_MS);
    log.splice(0, counting === -1 ? log.length : counting);
    return log.length >= requestsPerMinute;
  }

  function count({ name }: RequestLimit, now: number): void {
    const log = logs.get(name)?.value ?? [];
    log.push(now);
    logs.set(name, log, now + LIMITED_MS);
  }

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

  return {
    async admit({ knownEpoch, limits, window, account }) {
      const [epoch = 0] = await counters.read([epochCounter]);
      if (epoch > knownEpoch) return { outcome: 'stale', epoch };
      // From here on nothing is awaited, so that no other request comes in between.
      const now = clock.now();
      const limit = limits.find((each) => isReached(each, now));
      if (limit !== undefined) return { outcome: 'limited', epoch, limit };
      for (const each of limits) count(each, now);
      return {
        outcome: 'passed',
        epoch,
        window: window && windows.get(windowName(window))?.value,
        account: account && accounts.get(accountName(account))?.value,
      };
    },
    async updateHints(facts) {
      for (const { costUsd, tokens, version, ...window } of facts.windows) {
        update(windows, windowName(window), { costUsd, tokens, version });
      }
      for (const { balance, hasHistory, refusedUntil, version, ...account } of facts.accounts) {
        update(accounts, accountName(account), { balance, hasHistory, refusedUntil, version });
      }
      return Promise.resolve();
    },
  };
}

interface Versioned {
  readonly version: number;
}
