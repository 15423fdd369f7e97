import {
  createAccessTokens,
  createAccountChanges,
  createAccountEvents,
  createCachedUsers,
  createSignInEnds,
  type AccessTokens,
  type AccountEvents,
  type CachedUsers,
  type SignInEnds,
} from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/server-process';

/** Sign-ins as each surface checks them, and how changes of accounts are announced. */
export interface SignIns {
  readonly accessTokens: AccessTokens;
  readonly users: CachedUsers;
  readonly events: AccountEvents;
  readonly ends: SignInEnds;
  /** The id of the user; undefined when the token is not valid, its sign-in has ended, or the user was deactivated. */
  userOf(accessToken: string): Promise<string | undefined>;
}

/** Processes that only check tokens leave `expiresInSecs` out. `ends` is started and stopped by the caller. */
export function createSignIns(context: AppContext, expiresInSecs = 0): SignIns {
  const { database, bus, clock, log, jwtSecret } = context;
  const { channels, counters } = bus;
  const accessTokens = createAccessTokens({ secret: jwtSecret, expiresInSecs, clock });
  const users = createCachedUsers(database.users, clock);
  const events = createAccountEvents({ channels, counters, log });
  const changes = createAccountChanges({ channels, counters, log });
  const ends = createSignInEnds({ changes, events });
  ends.onEnd((end) => {
    if (end.kind === 'user-deactivated') users.forget(end.userId);
  });
  return {
    accessTokens,
    users,
    events,
    ends,
    async userOf(accessToken) {
      const signIn = accessTokens.verify(accessToken);
      if (signIn === undefined || ends.hasEnded(signIn)) return undefined;
      return (await users.findBySignIn(signIn))?.id;
    },
  };
}
