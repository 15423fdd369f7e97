import { ServiceError } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { SignInEnds } from './sign-in-ends.ts';
import type {
  AccountChanges,
  AccountQuery,
  AccountView,
  UserDirectoryStore,
} from './user-directory-store.ts';

/** One page of the accounts. */
interface AccountPage {
  readonly accounts: readonly AccountView[];
  readonly hasMore: boolean;
}

/** The accounts of all users, for admins. */
export interface UserDirectory {
  list(query: AccountQuery): Promise<AccountPage>;
  get(userId: string): Promise<AccountView>;
  /** Deactivating ends the user's sign-ins in every process and stops their keys. */
  update(userId: string, changes: AccountChanges): Promise<AccountView>;
  /** Removes the person; usage and ledger stay. `successorId` gets the groups that have no other admin. */
  erase(userId: string, successorId: string | undefined): Promise<void>;
  /** Removes what an erased person wrote. It can take minutes, so it runs after the transaction of `erase`. */
  eraseContent(userId: string): Promise<void>;
}

/** The refusal to change an account that was erased. */
export const accountErased = (): ServiceError =>
  new ServiceError('account_protected', 'the account was erased and cannot be changed');

interface UserDirectoryDependencies {
  readonly store: UserDirectoryStore;
  readonly signInEnds: Pick<SignInEnds, 'announce'>;
  readonly events: AccountEvents;
  readonly clock: Clock;
}

export function createUserDirectory(dependencies: UserDirectoryDependencies): UserDirectory {
  const { store, signInEnds, events, clock } = dependencies;
  const now = () => new Date(clock.now());
  return {
    async list({ countMax, ...query }) {
      const found = await store.list({ ...query, countMax: countMax + 1 });
      return { accounts: found.slice(0, countMax), hasMore: found.length > countMax };
    },
    async get(userId) {
      const account = await store.find(userId);
      if (account === undefined) throw userNotFound();
      return account;
    },
    async update(userId, changes) {
      const account = await store.update(userId, changes, now());
      if (account === undefined) throw userNotFound();
      if (changes.isActive === false)
        await signInEnds.announce({ kind: 'user-deactivated', userId });
      else await events.changed({ kind: 'user', userId });
      return account;
    },
    async erase(userId, successorId) {
      if (!(await store.erase(userId, successorId, now()))) throw userNotFound();
      await signInEnds.announce({ kind: 'user-deactivated', userId });
    },
    eraseContent: (userId) => store.eraseContent(userId),
  };
}

const userNotFound = (): ServiceError => new ServiceError('not_found', 'user not found');
