import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { AccessTokens } from './access-tokens.ts';
import { hashPassword } from './passwords.ts';
import type { RefreshTokenStore } from './refresh-token-store.ts';
import type { User, UserStore } from './user-store.ts';

/** A session that was just opened. */
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
  /** The user whom an access token speaks for, as the account is now. */
  authenticate(accessToken: string): Promise<User | undefined>;
}

interface AccountsDependencies {
  readonly users: UserStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
  readonly registrationOpen: boolean;
  readonly refreshTokenTtlSecs: number;
}

const REFRESH_TOKEN_BYTES = 32;

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const { users, refreshTokens, accessTokens, clock } = dependencies;

  async function openSession(user: User): Promise<SignedIn> {
    const refreshToken = randomToken(REFRESH_TOKEN_BYTES);
    await refreshTokens.save({
      tokenHash: sha256Hex(refreshToken),
      familyId: newId(),
      userId: user.id,
      expiresAt: new Date(clock.now() + dependencies.refreshTokenTtlSecs * 1000),
    });
    return {
      user,
      accessToken: accessTokens.sign(user.id),
      refreshToken,
      expiresInSecs: accessTokens.expiresInSecs,
    };
  }

  return {
    async register({ email, password, name }) {
      if (!dependencies.registrationOpen) {
        throw new ServiceError('registration_closed', 'registration is closed');
      }
      const passwordHash = await hashPassword(password);
      return openSession(
        await users.create({ id: newId(), email, name: name ?? '', passwordHash }),
      );
    },
    async authenticate(accessToken) {
      const userId = accessTokens.verify(accessToken);
      return userId === undefined ? undefined : users.findById(userId);
    },
  };
}
