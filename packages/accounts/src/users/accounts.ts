import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, sha256Hex, type Clock, type Log } from '@model-gateway/kernel';
import type { AccessTokens } from './access-tokens.ts';
import type { LoginLimits } from '../login/login-limits.ts';
import { DUMMY_PASSWORD_HASH, type Passwords } from '../login/passwords.ts';
import type { RefreshTokenStore } from './refresh-token-store.ts';
import type { User, UserStore } from './user-store.ts';

/** The tokens of a session. */
export interface SignedIn {
  readonly user: User;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSecs: number;
}

/** User accounts: registration and sign-in. */
export interface Accounts {
  register(applicant: {
    readonly email: string;
    readonly password: string;
    readonly name?: string | undefined;
  }): Promise<SignedIn>;
  /** Neither the response nor its time reveals whether the email is unknown or the password wrong. */
  login(attempt: {
    readonly email: string;
    readonly password: string;
    readonly clientIp: string;
  }): Promise<SignedIn>;
  /** Exchanges a refresh token, once. A reused token revokes all tokens of its family. */
  refresh(refreshToken: string): Promise<SignedIn>;
  /** The current user of an access token. */
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
// Each sign-in or refresh deletes a few expired tokens.
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

  // The database rejects a NUL character, even in a query.
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
        log.warn({ user_id: rotation.userId }, 'a refresh token was reused; its family is revoked');
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
