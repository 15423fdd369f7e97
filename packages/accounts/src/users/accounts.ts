import { createHmac } from 'node:crypto';
import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, sha256Hex, type Clock, type Log } from '@model-gateway/kernel';
import type { IdentityDatabase } from '../identity/identity-store.ts';
import { createProviderAccounts, type SignInOrigin } from '../identity/provider-accounts.ts';
import type { ProviderIdentity } from '../identity/provider-identity.ts';
import type { AccountEvents } from '../changes/account-events.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { LoginLimits } from '../login/login-limits.ts';
import { DUMMY_PASSWORD_HASH, type Passwords } from '../login/passwords.ts';
import type { KnownAddresses } from '../login/known-addresses.ts';
import type { RegistrationLimits } from '../login/registration-limits.ts';
import type { RefreshTokenStore, Rotation } from './refresh-token-store.ts';
import type { SignIn } from './sign-in.ts';
import type { SignInEnds } from './sign-in-ends.ts';
import type { NewUser, User, UserStore } from './user-store.ts';

/** The tokens of a session. */
export interface SignedIn {
  readonly user: User;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSecs: number;
}

/** The user of an access token, and the sign-in that the token came from. */
export interface Authenticated {
  readonly user: User;
  readonly signIn: SignIn;
}

interface Applicant {
  readonly email: string;
  readonly password: string;
  readonly name?: string | undefined;
  readonly clientIp: string;
  /** On this machine, and not behind a proxy: no limit applies. */
  readonly isLocalClient: boolean;
  readonly hasAdminToken: boolean;
}

/** Creates an account on a store, such as that of a transaction. */
type CreateWith = (create: (users: Pick<UserStore, 'create'>) => Promise<User>) => Promise<User>;

/** User accounts: registration and sign-in. */
export interface Accounts {
  register(applicant: Applicant, createWith: CreateWith): Promise<SignedIn>;
  /** Neither the response nor its time reveals whether the email is unknown or the password wrong. */
  login(attempt: {
    readonly email: string;
    readonly password: string;
    readonly clientIp: string;
  }): Promise<SignedIn>;
  /**
   * Signs in a user whom an identity provider has identified; the first time this may create the account. Rejects with
   * `account_exists` when it is to be linked with a password first.
   */
  signInWithIdentity(identity: ProviderIdentity, origin: SignInOrigin): Promise<SignedIn>;
  /** The same, with the password of the account that has the email. */
  linkIdentity(
    identity: ProviderIdentity,
    password: string,
    origin: SignInOrigin,
  ): Promise<SignedIn>;
  /** Exchanges a refresh token, once. A reused token revokes all tokens of its family. */
  refresh(refreshToken: string): Promise<SignedIn>;
  /**
   * The same for a browser, which may lose the response when its page is reloaded, or send the token from two pages at once:
   * for a short time the same token is exchanged for the same successor.
   */
  refreshCookie(refreshToken: string): Promise<SignedIn>;
  /** Ends the sign-in that a refresh token belongs to, if there is one. */
  logoutCookie(refreshToken: string): Promise<void>;
  authenticate(accessToken: string): Promise<Authenticated | undefined>;
  /** The sign-in that an access token was issued for, which may have ended: the store is not asked. */
  signInOf(accessToken: string): SignIn | undefined;
  /** The user of a sign-in, or undefined when it has ended or the user was deactivated. */
  findUser(signIn: SignIn): Promise<User | undefined>;
  /** Ends the sign-in: its refresh tokens, access tokens and sockets, in every process. */
  logout(signIn: SignIn): Promise<void>;
}

interface AccountsDependencies {
  readonly users: UserStore;
  readonly database: IdentityDatabase;
  readonly refreshTokens: RefreshTokenStore;
  readonly accessTokens: AccessTokens;
  readonly passwords: Passwords;
  readonly loginLimits: LoginLimits;
  readonly registrationLimits: RegistrationLimits;
  readonly knownAddresses: Pick<KnownAddresses, 'remember'>;
  readonly signInEnds: Pick<SignInEnds, 'announce' | 'hasEnded'>;
  readonly events: AccountEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly registrationOpen: boolean;
  /** Whether the first account becomes the admin, or the first that presents the admin token. */
  readonly firstAdmin: 'anyone' | 'token';
  readonly refreshTokenTtlSecs: number;
  /** Successors of the refresh tokens of browsers are derived with it. */
  readonly successorSecret: string;
}

const REFRESH_TOKEN_BYTES = 32;
const REPEATABLE_MS = 30_000;
// Each sign-in or refresh deletes a few expired tokens.
const EXPIRED_REMOVED_MAX = 20;

interface NewRefreshToken {
  readonly refreshToken: string;
  readonly expiresAt: Date;
  readonly repeatableMs?: number;
}

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const { users, refreshTokens, accessTokens, passwords, loginLimits, signInEnds, clock, log } =
    dependencies;

  const providerAccounts = createProviderAccounts(dependencies);

  const expiring = (refreshToken: string): NewRefreshToken => ({
    refreshToken,
    expiresAt: new Date(clock.now() + dependencies.refreshTokenTtlSecs * 1000),
  });
  const newRefreshToken = () => expiring(randomToken(REFRESH_TOKEN_BYTES));
  /** Always the same for a token, and impossible to compute without the secret. */
  const successorOf = (presented: string) =>
    expiring(
      createHmac('sha256', dependencies.successorSecret)
        .update(`refresh token after ${presented}`)
        .digest('base64url'),
    );

  const signedIn = (user: User, familyId: string, refreshToken: string): SignedIn => ({
    user,
    accessToken: accessTokens.sign(user.id, familyId),
    refreshToken,
    expiresInSecs: accessTokens.expiresInSecs,
  });

  /** A password that was changed since it was checked opens no session. */
  async function openSession(
    user: User,
    clientIp: string,
    passwordHash?: string,
  ): Promise<SignedIn> {
    const { refreshToken, expiresAt } = newRefreshToken();
    const familyId = newId();
    const tokenHash = sha256Hex(refreshToken);
    const token = { tokenHash, familyId, userId: user.id, expiresAt };
    if (!(await refreshTokens.save(token, passwordHash))) throw invalidLogin();
    await refreshTokens.removeExpired(new Date(clock.now()), EXPIRED_REMOVED_MAX);
    await dependencies.knownAddresses.remember(user, clientIp);
    return signedIn(user, familyId, refreshToken);
  }

  /** A reused token ends its family. */
  async function rotate(presented: string, successor: NewRefreshToken): Promise<Rotation> {
    const { refreshToken, expiresAt, repeatableMs } = successor;
    const rotation = await refreshTokens.rotate({
      tokenHash: sha256Hex(presented),
      successorHash: sha256Hex(refreshToken),
      successorExpiresAt: expiresAt,
      now: new Date(clock.now()),
      ...(repeatableMs === undefined ? {} : { repeatableMs }),
    });
    if (rotation.outcome === 'reused') {
      log.warn({ user_id: rotation.userId }, 'a refresh token was reused; its family is revoked');
      await signInEnds.announce({ kind: 'sign-in-ended', familyId: rotation.familyId });
    }
    return rotation;
  }

  async function refresh(presented: string, successor: NewRefreshToken): Promise<SignedIn> {
    const rotation = await rotate(presented, successor);
    if (rotation.outcome !== 'rotated') throw invalidRefreshToken();
    const user = await users.findById(rotation.userId);
    if (user === undefined) throw invalidRefreshToken();
    await refreshTokens.removeExpired(new Date(clock.now()), EXPIRED_REMOVED_MAX);
    return signedIn(user, rotation.familyId, successor.refreshToken);
  }

  async function endFamily(familyId: string): Promise<void> {
    await refreshTokens.revokeFamily(familyId, new Date(clock.now()));
    await signInEnds.announce({ kind: 'sign-in-ended', familyId });
  }

  async function findUser(signIn: SignIn): Promise<User | undefined> {
    return signInEnds.hasEnded(signIn) ? undefined : users.findBySignIn(signIn);
  }

  /** With `token`, becoming the admin depends on the admin token alone, not on being first. */
  function becomesAdmin(hasAdminToken: boolean): NonNullable<NewUser['becomesAdmin']> {
    if (dependencies.firstAdmin === 'anyone') return 'if-first';
    return hasAdminToken ? 'if-no-admin' : 'never';
  }

  /** The user with this email and password. The password is checked once, whether or not the account exists. */
  async function prove(email: string, password: string) {
    const account = await findAccount(email);
    const isRight = await passwords.verify(account?.passwordHash ?? DUMMY_PASSWORD_HASH, password);
    return isRight ? account : undefined;
  }

  // The database rejects a NUL character, even in a query.
  const findAccount = async (email: string) =>
    email.includes('\u0000') ? undefined : users.findByEmail(email);

  return {
    async register(applicant, createWith) {
      const { email, password, name, clientIp, isLocalClient, hasAdminToken } = applicant;
      if (!dependencies.registrationOpen) {
        throw new ServiceError('registration_closed', 'registration is closed');
      }
      if (!isLocalClient) await dependencies.registrationLimits.admit(clientIp);
      const passwordHash = await passwords.hash(password);
      const account = {
        id: newId(),
        email,
        name: name ?? '',
        passwordHash,
        becomesAdmin: becomesAdmin(hasAdminToken),
      };
      const user = await createWith((store) => store.create(account));
      return openSession(user, clientIp);
    },
    async login({ email, password, clientIp }) {
      const account = await loginLimits.attempt({ email, clientIp }, () => prove(email, password));
      if (account === undefined) throw invalidLogin();
      return openSession(account.user, clientIp, account.passwordHash);
    },
    async signInWithIdentity(identity, origin) {
      const { user, passwordHash } = await providerAccounts.signIn(identity, origin);
      return openSession(user, origin.clientIp, passwordHash);
    },
    async linkIdentity(identity, password, origin) {
      const { user, passwordHash } = await providerAccounts.link(identity, password, origin);
      return openSession(user, origin.clientIp, passwordHash);
    },
    refresh: (presented) => refresh(presented, newRefreshToken()),
    refreshCookie: (presented) =>
      refresh(presented, { ...successorOf(presented), repeatableMs: REPEATABLE_MS }),
    async logoutCookie(presented) {
      const rotation = await rotate(presented, newRefreshToken());
      if (rotation.outcome === 'rotated') await endFamily(rotation.familyId);
    },
    signInOf: (accessToken) => accessTokens.verify(accessToken),
    async authenticate(accessToken) {
      const signIn = accessTokens.verify(accessToken);
      const user = signIn && (await findUser(signIn));
      return user && { user, signIn };
    },
    findUser,
    async logout({ userId, familyId }) {
      if (familyId !== undefined) return endFamily(familyId);
      // An access token of an earlier version does not say which sign-in it belongs to, so all of them end.
      const ended = await refreshTokens.revokeUser(userId, new Date(clock.now()));
      for (const id of ended) await signInEnds.announce({ kind: 'sign-in-ended', familyId: id });
      return undefined;
    },
  };
}

const invalidLogin = (): ServiceError =>
  new ServiceError('invalid_credentials', 'invalid email or password');

const invalidRefreshToken = (): ServiceError =>
  new ServiceError('invalid_credentials', 'invalid refresh token');
