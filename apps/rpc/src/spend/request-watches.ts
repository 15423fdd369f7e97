import {
  readRequestNotice,
  REQUESTS_CHANNEL,
  type RequestNotice,
  type RpcNotification,
} from '@model-gateway/contracts';
import {
  randomToken,
  type Channels,
  type Clock,
  type Part,
  type Subscription,
} from '@model-gateway/kernel';
import type { Sessions } from '../sessions/sessions.ts';

/** Whose requests are watched: those of the user, of the group, or all. */
export interface WatchedRequests {
  readonly userId?: string | undefined;
  readonly groupId?: string | undefined;
}

/** Announces new requests to listeners on event streams, which then call `requests.list`. */
export interface RequestWatches extends Part {
  /** Opens a stream of the user that announces the requests. It ends after a time, or when the user may no longer read them. */
  watch(
    ownerId: string,
    watched: WatchedRequests,
    /** Asked before every announcement; never rejects. */
    isAllowed: () => Promise<boolean>,
  ): Promise<{ readonly streamId: string; readonly expiresAt: Date }>;
}

interface RequestWatchesDependencies {
  readonly channels: Pick<Channels, 'subscribe'>;
  readonly sessions: Pick<Sessions, 'setOwner' | 'push'>;
  readonly clock: Clock;
  readonly intervalMs?: number;
}

interface Watch {
  readonly ownerId: string;
  readonly watched: WatchedRequests;
  readonly isAllowed: () => Promise<boolean>;
  readonly expiresAt: number;
  /** Requests that were not announced yet. */
  waiting: number;
  pause: NodeJS.Timeout | undefined;
}

const LASTS_MS = 15 * 60 * 1000;
const INTERVAL_MS = 1_000;
const PER_USER_MAX = 10;

export function createRequestWatches(dependencies: RequestWatchesDependencies): RequestWatches {
  const { channels, sessions, clock, intervalMs = INTERVAL_MS } = dependencies;
  /** The oldest first. */
  const watches = new Map<string, Watch>();
  let subscription: Subscription | undefined;

  function remove(streamId: string): void {
    clearTimeout(watches.get(streamId)?.pause);
    watches.delete(streamId);
  }

  function announce(streamId: string, watch: Watch): void {
    const { waiting } = watch;
    if (waiting === 0 || watch.pause !== undefined) return;
    watch.waiting = 0;
    watch.pause = setTimeout(() => {
      watch.pause = undefined;
      announce(streamId, watch);
    }, intervalMs).unref();
    const notification: RpcNotification = {
      jsonrpc: '2.0',
      method: 'requests.changed',
      params: { stream_id: streamId, added: waiting },
    };
    const push = (): void => void sessions.push(streamId, JSON.stringify(notification));
    void watch.isAllowed().then((isAllowed) => (isAllowed ? push() : remove(streamId)));
  }

  function onMessage(message: string): void {
    if (watches.size === 0) return;
    const notice = readRequestNotice(message);
    if (notice === undefined) return;
    for (const [streamId, watch] of watches) {
      if (watch.expiresAt <= clock.now()) remove(streamId);
      else {
        watch.waiting += countOf(notice, watch.watched);
        announce(streamId, watch);
      }
    }
  }

  function makeRoom(ownerId: string): void {
    const own = [...watches].filter(([, watch]) => watch.ownerId === ownerId);
    for (const [streamId] of own.slice(0, Math.max(0, own.length - PER_USER_MAX + 1)))
      remove(streamId);
  }

  return {
    name: 'request-watches',
    async start() {
      subscription = await channels.subscribe(REQUESTS_CHANNEL, onMessage);
    },
    async stop() {
      for (const streamId of watches.keys()) remove(streamId);
      await subscription?.close();
    },
    async watch(ownerId, watched, isAllowed) {
      const streamId = randomToken();
      await sessions.setOwner(streamId, ownerId);
      makeRoom(ownerId);
      const expiresAt = clock.now() + LASTS_MS;
      const watch = { ownerId, watched, isAllowed, expiresAt, waiting: 0, pause: undefined };
      watches.set(streamId, watch);
      return { streamId, expiresAt: new Date(expiresAt) };
    },
  };
}

/** In the scope of a group all rows of the group count, of all its members. */
function countOf({ total, users, groups }: RequestNotice, { userId, groupId }: WatchedRequests) {
  if (groupId !== undefined) return groups[groupId] ?? 0;
  return userId === undefined ? total : (users[userId] ?? 0);
}
