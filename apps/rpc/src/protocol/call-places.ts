import { addressKey, type SignIn } from '@model-gateway/accounts';
import { ServiceError, type RpcMethodName } from '@model-gateway/contracts';
import { createFairQueue } from '@model-gateway/kernel';
import type { Credentials } from './authorize.ts';

/** Limits how many calls of one user are in progress at a time, so that the calls of others do not wait for them. */
export interface CallPlaces {
  /**
   * Rejects with `rate_limit_exceeded`, without running the work, when the user has as many calls as allowed. A call over a
   * socket waits for a place first: clients send many in a row, which are read no faster than they are answered.
   */
  run<Result>(call: PlacedCall, work: () => Promise<Result>): Promise<Result>;
}

interface PlacedCall {
  readonly method: RpcMethodName;
  readonly credentials: Credentials;
  readonly isOverSocket?: boolean;
}

interface CallPlacesDependencies {
  readonly perUserMax: number;
  readonly signInOf: (bearer: string) => SignIn | undefined;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
}

/** Half of the connections to the database. */
const RUNNING_PER_USER_MAX = 5;
const RETRY_SECS = 1;
const SOCKET_WAIT_MS_MAX = 10_000;
const ADDRESS = 'address:';
/** These calls wait for upstreams and nodes, not for the database, so all of them run at once. */
const RUNNING_AT_ONCE = /^(?:chat|realtime|engine|backends|agents)\./;

/**
 * Counted before the caller is authenticated, which takes a query. The admin token counts as one user. A client on this machine
 * that uses no proxy and no token is not limited.
 */
export function createCallPlaces(dependencies: CallPlacesDependencies): CallPlaces {
  const { perUserMax, signInOf, isAdminToken } = dependencies;
  const anyNumber = { atOnceMax: Number.POSITIVE_INFINITY, waitingMax: Number.POSITIVE_INFINITY };
  const refusal = (): ServiceError => tooManyCalls(perUserMax);
  const inProgress = createFairQueue({
    ...anyNumber,
    atOncePerKeyMax: perUserMax,
    waitMsMax: SOCKET_WAIT_MS_MAX,
    refusal,
  });
  const running = createFairQueue({ ...anyNumber, atOncePerKeyMax: RUNNING_PER_USER_MAX, refusal });

  function holderOf({ bearer, signIn, clientIp, isLocalClient }: Credentials): string | undefined {
    if (isAdminToken(bearer)) return 'admin-token';
    const { userId } = signIn ?? (bearer === undefined ? undefined : signInOf(bearer)) ?? {};
    if (userId !== undefined) return `user:${userId}`;
    return isLocalClient ? undefined : ADDRESS + addressKey(clientIp);
  }

  return {
    async run({ method, credentials, isOverSocket = false }, work) {
      const holder = holderOf(credentials);
      if (holder === undefined) return work();
      if (!isOverSocket && inProgress.wouldWait(holder)) throw refusal();
      // An address may be that of many people.
      const runsAtOnce = holder.startsWith(ADDRESS) || RUNNING_AT_ONCE.test(method);
      return inProgress.run(holder, runsAtOnce ? work : () => running.run(holder, work));
    },
  };
}

const tooManyCalls = (perUserMax: number): ServiceError =>
  new ServiceError(
    'rate_limit_exceeded',
    `too many calls at a time: at most ${perUserMax} per user, or per client address without a token. ` +
      'Wait for the answers of earlier calls; an operator raises the limit with SERVICE_RPC_CALLS_PER_USER.',
    { details: { retry_after_secs: RETRY_SECS } },
  );
