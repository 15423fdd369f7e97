import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken } from '@model-gateway/kernel';
import type { Passwords } from '../login/passwords.ts';
import type { NewUser, User, UserStore } from '../users/user-store.ts';
import type { ProviderIdentity } from './provider-identity.ts';

interface LinkAccountDependencies {
  readonly users: Pick<UserStore, 'create' | 'findByEmail' | 'makeAdmin'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly firstAdmin: 'anyone' | 'token';
}

/** The account of an identity: the one with the same email, else a new one. Rejects a deactivated account. */
export type LinkAccount = (identity: ProviderIdentity) => Promise<User>;

const PASSWORD_BYTES = 32;

export function createLinkAccount(dependencies: LinkAccountDependencies): LinkAccount {
  const { users, passwords, firstAdmin } = dependencies;

  function becomesAdmin({ isAdmin }: ProviderIdentity): NonNullable<NewUser['becomesAdmin']> {
    if (isAdmin) return 'always';
    return firstAdmin === 'anyone' ? 'if-first' : 'never';
  }

  /** Creates an account with a random password that is stored nowhere: the user signs in through the provider, or resets it. */
  async function create(identity: ProviderIdentity): Promise<User> {
    const passwordHash = await passwords.hash(randomToken(PASSWORD_BYTES));
    const { email, name } = identity;
    return users.create({
      id: newId(),
      email,
      name,
      passwordHash,
      becomesAdmin: becomesAdmin(identity),
    });
  }

  /** Groups of the provider only give the role. Only an admin takes it away, so that no provider can lock out all admins. */
  async function findAccount({ email, isAdmin }: ProviderIdentity): Promise<User | undefined> {
    const user = (await users.findByEmail(email))?.user;
    if (user === undefined || user.isAdmin || !isAdmin) return user;
    await users.makeAdmin(user.id);
    return { ...user, isAdmin: true };
  }

  return async (identity) => {
    const known = await findAccount(identity);
    if (known !== undefined) return known;
    try {
      return await create(identity);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'email_taken') throw error;
    }
    // Created by a sign-in at the same time, or deactivated: searches do not find deactivated accounts.
    const other = await findAccount(identity);
    if (other !== undefined) return other;
    throw new ServiceError('sign_in_refused', 'this account is deactivated; ask an admin');
  };
}
