import {
  createAccessTokens,
  createAccountChanges,
  createAccountEvents,
  createCachedUsers,
  createSignInEnds,
} from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/server-process';

/** Access tokens of users, checked in the same way as on the management plane. */
export interface GatewaySignIns {
  /** The id of the user; undefined when the token is not valid, its sign-in has ended, or the user was deactivated. */
  userOf(accessToken: string): Promise<string | undefined>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createGatewaySignIns(context: AppContext): GatewaySignIns {
  const { database, bus, clock, log, jwtSecret } = context;
  const { channels, counters } = bus;
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: 0, clock });
  const users = createCachedUsers(database.users, clock);
  const ends = createSignInEnds({
    changes: createAccountChanges({ channels, counters, log }),
    events: createAccountEvents({ channels, counters, log }),
  });
  ends.onEnd((end) => {
    if (end.kind === 'user-deactivated') users.forget(end.userId);
  });
  return {
    async userOf(accessToken) {
      const signIn = tokens.verify(accessToken);
      if (signIn === undefined || ends.hasEnded(signIn)) return undefined;
      return (await users.findBySignIn(signIn))?.id;
    },
    start: () => ends.start(),
    stop: () => ends.stop(),
  };
}
