import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '@model-gateway/contracts';
import {
  createFairQueue,
  sha256Hex,
  type Clock,
  type Counters,
  type Log,
} from '@model-gateway/kernel';
import { addressKey } from './address-key.ts';
import { createFailureSlots, type FailureSlot, type Subject } from './failure-slots.ts';
import type { KnownAddresses } from './known-addresses.ts';

/** Who tries to sign in, and from where. */
interface Attempt {
  readonly email: string;
  readonly clientIp: string;
}

/** Prevents guessing of passwords: too many failures lock the account for an address, the address, or the account. */
export interface LoginLimits {
  /**
   * Makes one attempt; `check` returns undefined if it failed. Attempts are counted before they are checked. Rejects with
   * `too_many_login_attempts`, without checking, while the account is locked for this address, or the address for all accounts.
   */
  attempt<Proof>(who: Attempt, check: () => Promise<Proof | undefined>): Promise<Proof | undefined>;
  /** The same for an attempt that names no account: only the failures of the address count. */
  attemptFrom<Proof>(
    clientIp: string,
    check: () => Promise<Proof | undefined>,
  ): Promise<Proof | undefined>;
}

interface LoginLimitsDependencies {
  readonly counters: Counters;
  readonly knownAddresses: Pick<KnownAddresses, 'isKnown'>;
  readonly clock: Clock;
  readonly log: Log;
}

const PAIR_FAILURES_MAX = 5;
const ADDRESS_FAILURES_MAX = 30;
const ACCOUNT_FAILURES_MAX = 100;
const WINDOW_MS = 15 * 60_000;
const LOCK_MS = 15 * 60_000;
// Much less than the failures of an address, so that many correct passwords from one do not look like failures.
const CHECKS_AT_ONCE_MAX = 4;
const WAITING_MAX = 1_000;
const BUSY_RETRY_SECS = 1;
const UNDECIDED_PAUSE_MS = 100;
const UNDECIDED_MS_MAX = 3_000;

export function createLoginLimits(dependencies: LoginLimitsDependencies): LoginLimits {
  const { counters, knownAddresses, clock, log } = dependencies;
  const slots = createFailureSlots({ counters, clock, windowMs: WINDOW_MS, lockMs: LOCK_MS });
  // One at a time per account and address, so that concurrent correct passwords do not use up their slots.
  const queue = createFairQueue({
    atOnceMax: CHECKS_AT_ONCE_MAX,
    waitingMax: WAITING_MAX,
    refusal: () => tooManyAttempts(BUSY_RETRY_SECS),
  });

  async function admit(subject: Subject): Promise<FailureSlot> {
    for (let waitedMs = 0; waitedMs <= UNDECIDED_MS_MAX; waitedMs += UNDECIDED_PAUSE_MS) {
      const admission = await slots.take(subject);
      if (admission.kind === 'admitted') return admission.slot;
      if (admission.kind === 'locked') {
        throw tooManyAttempts(Math.ceil((admission.untilMs - clock.now()) / 1000));
      }
      // Another process is checking a password: soon a slot is free again or the subject is locked.
      await delay(UNDECIDED_PAUSE_MS);
    }
    throw tooManyAttempts(BUSY_RETRY_SECS);
  }

  /** The failures of other addresses do not lock out one that has signed in to the account. */
  async function admitToAccount(account: Subject, who: Attempt): Promise<readonly FailureSlot[]> {
    try {
      return [await admit(account)];
    } catch (error) {
      if (error instanceof ServiceError && (await knownAddresses.isKnown(who))) return [];
      throw error;
    }
  }

  async function admitAll({ pair, address, account }: Subjects, who: Attempt) {
    const taken: FailureSlot[] = [];
    try {
      taken.push(await admit(address));
      taken.push(await admit(pair));
      taken.push(...(await admitToAccount(account, who)));
      return taken;
    } catch (error) {
      await Promise.all(taken.map((slot) => slots.release(slot)));
      throw error;
    }
  }

  /** The limits never refuse a login because their store is unavailable. */
  async function ifAvailable<Answer>(work: Promise<Answer>, otherwise: Answer): Promise<Answer> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      log.warn({ error }, 'counting a login failed');
      return otherwise;
    }
  }

  const settle = (taken: readonly FailureSlot[], how: (slot: FailureSlot) => Promise<void>) =>
    ifAvailable(
      Promise.all(taken.map(how)).then(() => undefined),
      undefined,
    );

  /** `cleared` is the subject whose earlier failures a success removes. */
  async function checkWith<Proof>(
    taken: readonly FailureSlot[],
    check: () => Promise<Proof | undefined>,
    cleared?: Subject,
  ): Promise<Proof | undefined> {
    try {
      const proof = await check();
      if (proof === undefined) await settle(taken, (slot) => slots.keep(slot));
      else {
        await settle(taken, (slot) =>
          slot.subject === cleared ? slots.clear(cleared) : slots.release(slot),
        );
      }
      return proof;
    } catch (error) {
      // An attempt that could not be checked is no failure.
      await settle(taken, (slot) => slots.release(slot));
      throw error;
    }
  }

  return {
    attempt(who, check) {
      const subjects = subjectsOf(who);
      const { pair } = subjects;
      return queue.run(pair.name, async () =>
        checkWith(await ifAvailable(admitAll(subjects, who), []), check, pair),
      );
    },
    attemptFrom(clientIp, check) {
      const subject = addressSubject(clientIp);
      return queue.run(subject.name, async () => {
        const admitted = admit(subject).then((slot) => [slot]);
        return checkWith(await ifAvailable(admitted, []), check);
      });
    },
  };
}

/** What the failures of an attempt are counted for. */
interface Subjects {
  readonly pair: Subject;
  readonly address: Subject;
  readonly account: Subject;
}

function subjectsOf({ email, clientIp }: Attempt): Subjects {
  const account = sha256Hex(email);
  const address = addressKey(clientIp);
  return {
    pair: { name: `pair:${account}:${address}`, failuresMax: PAIR_FAILURES_MAX },
    address: addressSubject(clientIp),
    account: { name: `account:${account}`, failuresMax: ACCOUNT_FAILURES_MAX },
  };
}

const addressSubject = (clientIp: string): Subject => ({
  name: `address:${addressKey(clientIp)}`,
  failuresMax: ADDRESS_FAILURES_MAX,
});

function tooManyAttempts(retryAfterSecs: number): ServiceError {
  return new ServiceError('too_many_login_attempts', 'too many login attempts', {
    details: { retry_after_secs: retryAfterSecs },
  });
}
