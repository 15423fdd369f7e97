import { ServiceError } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { User, UserStore } from './user-store.ts';

/** A user store that serves recently read accounts while the database is unavailable. */
export interface CachedUsers extends UserStore {
  /** Reads the account from the store again before it is served. */
  forget(userId: string): void;
}

const USERS_MAX = 20_000;
/** How long a cached account stays valid while the store is unavailable; the same as for keys. */
const STALE_MAX_MS = 10 * 60_000;

/**
 * Reads the store every time; while it is unavailable, recently read accounts stay valid, so that chats and realtime sessions
 * continue.
 */
export function createCachedUsers(users: UserStore, clock: Clock): CachedUsers {
  const seen = new LRUCache<string, { readonly user: User; readonly at: number }>({
    max: USERS_MAX,
  });

  function remembered(id: string): User | undefined {
    const entry = seen.get(id);
    return entry !== undefined && clock.now() - entry.at < STALE_MAX_MS ? entry.user : undefined;
  }

  async function readOrRemember(
    id: string,
    read: () => Promise<User | undefined>,
  ): Promise<User | undefined> {
    try {
      const user = await read();
      if (user !== undefined) seen.set(id, { user, at: clock.now() });
      return user;
    } catch (error) {
      const isUnavailable = error instanceof ServiceError && error.code === 'store_unavailable';
      const user = isUnavailable ? remembered(id) : undefined;
      if (user === undefined) throw error;
      return user;
    }
  }

  return {
    ...users,
    async findById(id) {
      const user = await readOrRemember(id, () => users.findById(id));
      if (user === undefined) seen.delete(id);
      return user;
    },
    // Other sign-ins of the user may still be valid, so the account stays cached.
    findBySignIn: (signIn) => readOrRemember(signIn.userId, () => users.findBySignIn(signIn)),
    forget: (userId) => void seen.delete(userId),
  };
}
