import { PASSWORD_CHARS_MAX, ServiceError } from '@model-gateway/contracts';
import { createFairQueue, newId } from '@model-gateway/kernel';
import { argon2id, hash, verify, type Options } from 'argon2';

/** Hashes and verifies passwords. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes the same time for every password. */
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/**
 * Verified for an unknown account, so that the response takes the same time. No known password has this hash; it has the
 * parameters of new hashes.
 */
export const DUMMY_PASSWORD_HASH =
  '$argon2id$v=19$m=65536,t=3,p=4$74FTON0UillMeeMAeSH3pQ$M7YZou3T2RXrzeWvjtLT9OKZJkT+7l+uXuKnuObfkYo';

// Each takes 64 MiB and one of the four threads that Node also uses to open connections: one must stay free.
const CHECKS_AT_ONCE_MAX = 2;
const HASHES_AT_ONCE_MAX = 1;
const WAITING_MAX = 1_000;
const BUSY_RETRY_SECS = 1;

/** The cost of hashing a password, for attackers and for this service. */
export type PasswordCost = Pick<Options, 'memoryCost' | 'timeCost' | 'parallelism'>;

/** Passwords as argon2id, with the library's current defaults if no cost is given. */
export function createPasswords(cost: PasswordCost = {}): Passwords {
  const busy = { details: { retry_after_secs: BUSY_RETRY_SECS } };
  const checks = createFairQueue({
    atOnceMax: CHECKS_AT_ONCE_MAX,
    waitingMax: WAITING_MAX,
    refusal: () => new ServiceError('too_many_login_attempts', 'too many login attempts', busy),
  });
  // Separate, so that a login never waits for registrations.
  const hashes = createFairQueue({
    atOnceMax: HASHES_AT_ONCE_MAX,
    waitingMax: WAITING_MAX,
    refusal: () =>
      new ServiceError('rate_limit_exceeded', 'too many registrations at the same time', busy),
  });
  return {
    hash: (password) => hashes.run(newId(), () => hash(password, { ...cost, type: argon2id })),
    async verify(passwordHash, password) {
      // No password is longer; hashing such a text would only cost time.
      const isPossible = password.length <= PASSWORD_CHARS_MAX;
      const isRight = await checks.run(newId(), () =>
        verify(passwordHash, isPossible ? password : ''),
      );
      return isRight && isPossible;
    },
  };
}
