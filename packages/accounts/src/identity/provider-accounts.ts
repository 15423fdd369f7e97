import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, type Clock, type Log } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { LoginLimits } from '../login/login-limits.ts';
import { DUMMY_PASSWORD_HASH, type Passwords } from '../login/passwords.ts';
import type { SignInEnds } from '../users/sign-in-ends.ts';
import type { NewUser, User } from '../users/user-store.ts';
import type {
  IdentityDatabase,
  IdentityStores,
  ProviderAccount,
  ProviderPerson,
} from './identity-store.ts';
import type { ProviderIdentity } from './provider-identity.ts';

/** Where a sign-in comes from. */
export interface SignInOrigin {
  readonly clientIp: string;
  readonly requestId: string;
}

/** A user who may sign in now, as long as this is the hash of the password. */
export interface AdmittedUser {
  readonly user: User;
  readonly passwordHash: string;
}

/** The accounts of people who sign in through the identity provider. */
export interface ProviderAccounts {
  /**
   * The account that is bound to the person, else a new one. Rejects with `account_exists` when a local account has the email,
   * and with `sign_in_refused` when another person has it, or the account is deactivated.
   */
  signIn(identity: ProviderIdentity, origin: SignInOrigin): Promise<AdmittedUser>;
  /** Binds the local account with the email of the person, who gives its password once. */
  link(identity: ProviderIdentity, password: string, origin: SignInOrigin): Promise<AdmittedUser>;
}

interface ProviderAccountsDependencies {
  readonly database: IdentityDatabase;
  readonly passwords: Passwords;
  readonly loginLimits: LoginLimits;
  readonly signInEnds: Pick<SignInEnds, 'announce'>;
  readonly events: AccountEvents;
  readonly firstAdmin: 'anyone' | 'token';
  readonly clock: Clock;
  readonly log: Log;
}

/** What happened to an account, for the audit log. */
type Happening = 'create' | 'link' | 'take_over' | 'role';

interface Change {
  readonly action: Happening;
  readonly user: User;
  readonly before: { readonly is_admin: boolean; readonly provider_bound: boolean } | null;
  readonly origin: SignInOrigin;
}

const PASSWORD_BYTES = 32;
/** A sign-in that loses against a concurrent change looks again. */
const ATTEMPTS_MAX = 3;

export function createProviderAccounts(
  dependencies: ProviderAccountsDependencies,
): ProviderAccounts {
  const { database, passwords, loginLimits, signInEnds, events, firstAdmin, clock, log } =
    dependencies;

  /** Of a password that is stored nowhere: the account has none until one is set with a reset link. */
  const hashOfNoPassword = () => passwords.hash(randomToken(PASSWORD_BYTES));

  function becomesAdmin({ isAdmin }: ProviderIdentity): NonNullable<NewUser['becomesAdmin']> {
    if (isAdmin) return 'always';
    return firstAdmin === 'anyone' ? 'if-first' : 'never';
  }

  async function create(
    identity: ProviderIdentity,
    origin: SignInOrigin,
  ): Promise<AdmittedUser | undefined> {
    const { email, name, person, isAdmin: hasProviderRole } = identity;
    const passwordHash = await hashOfNoPassword();
    const account = { id: newId(), email, name, passwordHash };
    try {
      const user = await database.auditedTransaction(
        `address:${origin.clientIp}`,
        async (stores) => {
          const created = await stores.users.create({
            ...account,
            becomesAdmin: becomesAdmin(identity),
          });
          const binding = { userId: created.id, person, passwordHash, hasProviderRole };
          if (!(await stores.identities.bind(binding))) throw emailTaken();
          if (created.isAdmin)
            await record(stores, { action: 'create', user: created, before: null, origin });
          return created;
        },
      );
      return { user, passwordHash };
    } catch (error) {
      // Another sign-in or a registration created the account at the same time.
      if (error instanceof ServiceError && error.code === 'email_taken') return undefined;
      throw error;
    }
  }

  async function bind(
    account: ProviderAccount,
    { person, isAdmin }: ProviderIdentity,
    origin: SignInOrigin,
  ): Promise<AdmittedUser | undefined> {
    const { passwordHash } = account;
    const hasProviderRole = isAdmin && !account.user.isAdmin;
    const user = { ...account.user, isAdmin: account.user.isAdmin || isAdmin };
    const isBound = await database.auditedTransaction(
      `address:${origin.clientIp}`,
      async (stores) => {
        const binding = { userId: user.id, person, passwordHash, hasProviderRole };
        if (!(await stores.identities.bind(binding))) return false;
        if (hasProviderRole) await stores.identities.giveRole(user.id);
        await record(stores, { action: 'link', user, before: stateOf(account), origin });
        return true;
      },
    );
    if (!isBound) return undefined;
    await events.changed({ kind: 'user', userId: user.id });
    return { user, passwordHash };
  }

  async function takeOver(
    account: ProviderAccount,
    { person, isAdmin }: ProviderIdentity,
    origin: SignInOrigin,
  ): Promise<AdmittedUser | undefined> {
    const { id: userId } = account.user;
    const nextHash = await hashOfNoPassword();
    const user = await database.auditedTransaction(`address:${origin.clientIp}`, async (stores) => {
      const takeover = { userId, person, nextHash, isAdmin, now: new Date(clock.now()) };
      const taken = await stores.identities.takeOver(takeover);
      if (taken !== undefined)
        await record(stores, {
          action: 'take_over',
          user: taken,
          before: stateOf(account),
          origin,
        });
      return taken;
    });
    if (user === undefined) return undefined;
    await signInEnds.announce({ kind: 'user-deactivated', userId });
    return { user, passwordHash: nextHash };
  }

  /** Gives or takes away the role. A role that an admin gave stays, and so does that of the last active admin. */
  async function withRole(
    account: ProviderAccount,
    { isAdmin }: ProviderIdentity,
    origin: SignInOrigin,
  ): Promise<User> {
    const { user, hasProviderRole } = account;
    const isGiven = isAdmin && !user.isAdmin;
    const isLost = !isAdmin && user.isAdmin && hasProviderRole;
    if (!isGiven && !isLost) return user;
    const changed = { ...user, isAdmin };
    const isChanged = await database.auditedTransaction(
      `address:${origin.clientIp}`,
      async (stores) => {
        if (isGiven) await stores.identities.giveRole(user.id);
        else if (!(await stores.identities.takeRole(user.id))) return false;
        await record(stores, { action: 'role', user: changed, before: stateOf(account), origin });
        return true;
      },
    );
    if (!isChanged) {
      log.warn(
        { user_id: user.id },
        'the last active admin keeps the role that the identity provider no longer gives',
      );
      return user;
    }
    await events.changed({ kind: 'user', userId: user.id });
    return changed;
  }

  async function attempt(
    identity: ProviderIdentity,
    origin: SignInOrigin,
  ): Promise<AdmittedUser | undefined> {
    const own = await database.identities.findByPerson(identity.person);
    if (own !== undefined) {
      assertActive(own);
      const user = await withRole(own, identity, origin);
      return { user, passwordHash: own.passwordHash };
    }
    const account = await database.identities.findByEmail(identity.email);
    if (account === undefined) return create(identity, origin);
    assertActive(account);
    // Another sign-in of the person was faster.
    if (isOf(account, identity.person)) return undefined;
    if (account.isClaimable) return takeOver(account, identity, origin);
    throw account.person === undefined ? accountExists() : boundToAnother();
  }

  async function signIn(identity: ProviderIdentity, origin: SignInOrigin): Promise<AdmittedUser> {
    for (let count = 0; count < ATTEMPTS_MAX; count += 1) {
      const admitted = await attempt(identity, origin);
      if (admitted !== undefined) return admitted;
    }
    throw refused('the account was changed at the same time; start again');
  }

  /** The local account, if this is its password. */
  async function prove(email: string, password: string): Promise<ProviderAccount | undefined> {
    const account = await database.identities.findByEmail(email);
    const isRight = await passwords.verify(account?.passwordHash ?? DUMMY_PASSWORD_HASH, password);
    return isRight ? account : undefined;
  }

  return {
    signIn,
    async link(identity, password, origin) {
      const { email } = identity;
      const { clientIp } = origin;
      const account = await loginLimits.attempt({ email, clientIp }, () => prove(email, password));
      if (account === undefined) throw wrongPassword();
      assertActive(account);
      return (await bind(account, identity, origin)) ?? signIn(identity, origin);
    },
  };
}

const isOf = ({ person }: ProviderAccount, { issuer, subject }: ProviderPerson): boolean =>
  person?.issuer === issuer && person.subject === subject;

const stateOf = ({ user, person }: ProviderAccount) => ({
  is_admin: user.isAdmin,
  provider_bound: person !== undefined,
});

/** The provider is the actor: it decides who the person is, and who has the role. */
async function record(
  { audit }: Pick<IdentityStores, 'audit'>,
  { action, user, before, origin }: Change,
): Promise<void> {
  await audit.append({
    actor: { kind: 'provider', userId: null },
    action: `provider.${action}`,
    target: `user:${user.id}`,
    before,
    after: { is_admin: user.isAdmin, provider_bound: true },
    ...origin,
  });
}

function assertActive({ isActive }: ProviderAccount): void {
  if (!isActive) throw refused('this account is deactivated; ask an admin');
}

const refused = (reason: string): ServiceError => new ServiceError('sign_in_refused', reason);

const boundToAnother = (): ServiceError =>
  refused('the account with this email belongs to another person of the provider; ask an admin');

const accountExists = (): ServiceError =>
  new ServiceError(
    'account_exists',
    'there is an account with this email: give its password once to link it, or ask an admin',
  );

const emailTaken = (): ServiceError => new ServiceError('email_taken', 'email already registered');

/** Names the field, so that a client does not take it for the end of its own sign-in. */
const wrongPassword = (): ServiceError =>
  new ServiceError('invalid_credentials', 'the password is wrong', {
    details: { issues: [{ path: 'password', message: 'the password is wrong' }] },
  });
