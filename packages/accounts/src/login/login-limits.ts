import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '@model-gateway/contracts';
import { sha256Hex, type Clock, type Counters, type Log } from '@model-gateway/kernel';
import { createFailureSlots, type FailureSlot, type Subject } from './failure-slots.ts';
import { createKeyedQueue } from './keyed-queue.ts';

/** Prevents guessing of passwords: too many failures lock the account or the address. */
export interface LoginLimits {
  /**
   * Makes one attempt; `check` returns undefined if it failed. Attempts are counted before they are checked. Rejects with
   * `too_many_login_attempts`, without checking, while the account or the address is locked.
   */
  attempt<Proof>(
    who: { readonly email: string; readonly clientIp: string },
    check: () => Promise<Proof | undefined>,
  ): Promise<Proof | undefined>;
}

interface LoginLimitsDependencies {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
}

const ACCOUNT_FAILURES_MAX = 5;
const IP_FAILURES_MAX = 20;
const WINDOW_MS = 5 * 60_000;
const LOCK_MS = 15 * 60_000;
// Much less than the failures of an address, so that many correct passwords from one do not look like failures.
const CHECKS_AT_ONCE_MAX = 4;
const WAITING_MAX = 1_000;
const BUSY_RETRY_SECS = 1;
const UNDECIDED_PAUSE_MS = 100;
const UNDECIDED_MS_MAX = 3_000;

export function createLoginLimits({ counters, clock, log }: LoginLimitsDependencies): LoginLimits {
  const slots = createFailureSlots({ counters, clock, windowMs: WINDOW_MS, lockMs: LOCK_MS });
  // One at a time per account, so that concurrent correct passwords do not use up its slots.
  const queue = createKeyedQueue({
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
      // Another process is checking: soon the slot is free again, or the subject locked.
      await delay(UNDECIDED_PAUSE_MS);
    }
    throw tooManyAttempts(BUSY_RETRY_SECS);
  }

  async function admitBoth(account: Subject, address: Subject): Promise<readonly FailureSlot[]> {
    const addressSlot = await admit(address);
    try {
      return [addressSlot, await admit(account)];
    } catch (error) {
      await slots.release(addressSlot);
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

  return {
    attempt({ email, clientIp }, check) {
      const account = { name: `account:${sha256Hex(email)}`, failuresMax: ACCOUNT_FAILURES_MAX };
      const address = { name: `ip:${sha256Hex(clientIp)}`, failuresMax: IP_FAILURES_MAX };
      return queue.run(account.name, async () => {
        const taken = await ifAvailable(admitBoth(account, address), []);
        try {
          const proof = await check();
          if (proof === undefined) await settle(taken, (slot) => slots.keep(slot));
          else {
            await settle(taken, (slot) =>
              slot.subject === account ? slots.clear(account) : slots.release(slot),
            );
          }
          return proof;
        } catch (error) {
          // An attempt that could not be checked is no failure.
          await settle(taken, (slot) => slots.release(slot));
          throw error;
        }
      });
    },
  };
}

function tooManyAttempts(retryAfterSecs: number): ServiceError {
  return new ServiceError('too_many_login_attempts', 'too many login attempts', {
    details: { retry_after_secs: retryAfterSecs },
  });
}
