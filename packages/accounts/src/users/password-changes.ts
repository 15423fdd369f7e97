import { ServiceError } from '@model-gateway/contracts';
import { randomToken, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { LoginLimits } from '../login/login-limits.ts';
import type { Passwords } from '../login/passwords.ts';
import type { PasswordSet, PasswordStore } from './password-store.ts';
import type { SignIn } from './sign-in.ts';
import type { SignInEnds } from './sign-in-ends.ts';
import type { User, UserStore } from './user-store.ts';

/** A token that sets a password, once. */
export interface ResetToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Stores a new password, which rejects when that is not possible any more. */
type StorePassword = (store: PasswordStore) => Promise<PasswordSet>;

/** Runs it on a store, such as that of a transaction. */
type StoreWith = (store: StorePassword) => Promise<PasswordSet>;

/** Changes passwords, by the user or with a reset link. Wrong ones count like failed logins. */
export interface PasswordChanges {
  /** Ends the other sign-ins of the user, in every process. */
  change(
    request: {
      readonly user: User;
      readonly signIn: SignIn;
      readonly current: string;
      readonly next: string;
      readonly clientIp: string;
    },
    storeWith?: StoreWith,
  ): Promise<void>;
  /** The link ends when its maker stops being an admin; one that was made with the admin token has no maker. */
  createReset(userId: string, maker: Pick<User, 'id'> | undefined): Promise<ResetToken>;
  /** Ends all sign-ins of the user, in every process. */
  reset(
    request: {
      readonly token: string;
      readonly password: string;
      readonly clientIp: string;
    },
    storeWith?: StoreWith,
  ): Promise<void>;
}

interface PasswordChangesDependencies {
  readonly store: PasswordStore;
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly passwords: Passwords;
  readonly loginLimits: LoginLimits;
  readonly signInEnds: Pick<SignInEnds, 'announce'>;
  readonly clock: Clock;
}

const RESET_TTL_MS = 60 * 60_000;
const RESET_TOKEN_BYTES = 32;
const RESET_TOKEN_PREFIX = 'rst-';

export function createPasswordChanges(dependencies: PasswordChangesDependencies): PasswordChanges {
  const { store, users, passwords, loginLimits, signInEnds, clock } = dependencies;
  const now = () => new Date(clock.now());
  const inOwnTransaction: StoreWith = (work) => work(store);

  async function announceEnds({ endedFamilyIds }: PasswordSet): Promise<void> {
    for (const familyId of endedFamilyIds)
      await signInEnds.announce({ kind: 'sign-in-ended', familyId });
  }

  /** The stored hash, if it is the one of the password. */
  async function proveCurrent(email: string, current: string): Promise<string | undefined> {
    const account = await users.findByEmail(email);
    if (account === undefined) return undefined;
    const isRight = await passwords.verify(account.passwordHash, current);
    return isRight ? account.passwordHash : undefined;
  }

  return {
    async change({ user, signIn, current, next, clientIp }, storeWith = inOwnTransaction) {
      const { email, id: userId } = user;
      const currentHash = await loginLimits.attempt({ email, clientIp }, () =>
        proveCurrent(email, current),
      );
      if (currentHash === undefined) throw wrongPassword();
      const nextHash = await passwords.hash(next);
      const keptFamilyId = signIn.familyId;
      const password = { userId, currentHash, nextHash, keptFamilyId, now: now() };
      const set = await storeWith(async (stored) => {
        const changed = await stored.change(password);
        if (changed === undefined) throw wrongPassword();
        return changed;
      });
      await announceEnds(set);
    },
    async createReset(userId, maker) {
      const token = `${RESET_TOKEN_PREFIX}${randomToken(RESET_TOKEN_BYTES)}`;
      const expiresAt = new Date(clock.now() + RESET_TTL_MS);
      const reset = { userId, tokenHash: sha256Hex(token), expiresAt, createdById: maker?.id };
      if (await store.saveReset(reset)) return { token, expiresAt };
      throw new ServiceError('account_protected', 'the account is deactivated: activate it first');
    },
    async reset({ token, password, clientIp }, storeWith = inOwnTransaction) {
      const tokenHash = sha256Hex(token);
      // Checked before the password is hashed, so that guesses cost little.
      const isLive = await loginLimits.attemptFrom(clientIp, async () =>
        (await store.hasReset(tokenHash, now())) ? true : undefined,
      );
      if (isLive === undefined) throw invalidResetToken();
      const nextHash = await passwords.hash(password);
      const set = await storeWith(async (stored) => {
        const used = await stored.useReset({ tokenHash, nextHash, now: now() });
        if (used === undefined) throw invalidResetToken();
        return used;
      });
      await announceEnds(set);
    },
  };
}

/** Names the field, so that a client does not take it for the end of its own sign-in. */
function wrongPassword(): ServiceError {
  const message = 'the current password is wrong';
  return new ServiceError('invalid_credentials', message, {
    details: { issues: [{ path: 'current', message }] },
  });
}

const invalidResetToken = (): ServiceError =>
  new ServiceError('invalid_credentials', 'the reset link is invalid, used or expired');
