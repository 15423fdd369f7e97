import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, sha256Hex, type Clock, type Log } from '@model-gateway/kernel';
import type { AccessTokens } from './access-tokens.ts';
import type { LoginLimits } from '../login/login-limits.ts';
import { DUMMY_PASSWORD_HASH, type Passwords } from '../login/passwords.ts';
import type { RefreshTokenStore } from './refresh-token-store.ts';
import type { User, UserStore } from './user-store.ts';

/** A session that was just opened, or goes on. */
export interface SignedIn {
  readonly user: User;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSecs: number;
}

/** Who has an account, and how they prove it. */
export interface Accounts {
  register(applicant: {
    readonly email: string;
    readonly password: string;
    readonly name?: string | undefined;
  }): Promise<SignedIn>;
  /** Nothing in the answer, nor the time it takes, tells an unknown email from a wrong password. */
  login(attempt: {
    readonly email: string;
    readonly password: string;
    readonly clientIp: string;
  }): Promise<SignedIn>;
  /** Trades a refresh token, once. One that comes back ends the session of everyone who holds a token of its family. */
  refresh(refreshToken: string): Promise<SignedIn>;
  /** The user whom an access token speaks for, as the account is now. */
  authenticate(accessToken: string): Promise<User | undefined>;
}

interface AccountsDependencies {
  readonly users: UserStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly accessTokens: AccessTokens;
  readonly passwords: Passwords;
  readonly loginLimits: LoginLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly registrationOpen: boolean;
  readonly refreshTokenTtlSecs: number;
}

const REFRESH_TOKEN_BYTES = 32;
// With every session that opens or goes on, a few dead ones are forgotten.
const EXPIRED_REMOVED_MAX = 20;

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const { users, refreshTokens, accessTokens, passwords, loginLimits, clock, log } = dependencies;

  const newRefreshToken = () => ({
    refreshToken: randomToken(REFRESH_TOKEN_BYTES),
    expiresAt: new Date(clock.now() + dependencies.refreshTokenTtlSecs * 1000),
  });

  const signedIn = (user: User, refreshToken: string): SignedIn => ({
    user,
    accessToken: accessTokens.sign(user.id),
    refreshToken,
    expiresInSecs: accessTokens.expiresInSecs,
  });

  async function openSession(user: User): Promise<SignedIn> {
    const { refreshToken, expiresAt } = newRefreshToken();
    await refreshTokens.save({
      tokenHash: sha256Hex(refreshToken),
      familyId: newId(),
      userId: user.id,
      expiresAt,
    });
    await refreshTokens.removeExpired(new Date(clock.now()), EXPIRED_REMOVED_MAX);
    return signedIn(user, refreshToken);
  }

  /** The user with this email and password. The password is checked once, whether or not the account exists. */
  async function prove(email: string, password: string): Promise<User | undefined> {
    const account = await findAccount(email);
    const isRight = await passwords.verify(account?.passwordHash ?? DUMMY_PASSWORD_HASH, password);
    return isRight ? account?.user : undefined;
  }

  // The database does not take a NUL character, not even to say that it is nobody's.
  const findAccount = async (email: string) =>
    email.includes('\u0000') ? undefined : users.findByEmail(email);

  return {
    async register({ email, password, name }) {
      if (!dependencies.registrationOpen) {
        throw new ServiceError('registration_closed', 'registration is closed');
      }
      const passwordHash = await passwords.hash(password);
      return openSession(
        await users.create({ id: newId(), email, name: name ?? '', passwordHash }),
      );
    },
    async login({ email, password, clientIp }) {
      const user = await loginLimits.attempt({ email, clientIp }, () => prove(email, password));
      if (user === undefined) {
        throw new ServiceError('invalid_credentials', 'invalid email or password');
      }
      return openSession(user);
    },
    async refresh(presented) {
      const { refreshToken, expiresAt } = newRefreshToken();
      const now = new Date(clock.now());
      const rotation = await refreshTokens.rotate({
        tokenHash: sha256Hex(presented),
        successorHash: sha256Hex(refreshToken),
        successorExpiresAt: expiresAt,
        now,
      });
      if (rotation.outcome === 'reused') {
        log.warn({ user_id: rotation.userId }, 'a refresh token came back; its family is revoked');
      }
      const user =
        rotation.outcome === 'rotated' ? await users.findById(rotation.userId) : undefined;
      if (user === undefined) {
        throw new ServiceError('invalid_credentials', 'invalid refresh token');
      }
      await refreshTokens.removeExpired(now, EXPIRED_REMOVED_MAX);
      return signedIn(user, refreshToken);
    },
    async authenticate(accessToken) {
      const userId = accessTokens.verify(accessToken);
      return userId === undefined ? undefined : users.findById(userId);
    },
  };
}
