import { randomToken, type Log } from '@model-gateway/kernel';
import type { BackendList } from '../registry/backend-list.ts';
import type { BackendLimits, LimitName } from './backend-limits.ts';
import { PLACE_KEPT_MS, type LimitStore, type Place } from './limit-store.ts';

/** The limits of the backends. A backend without limits costs nothing. */
export interface Limits {
  /** Takes a place for a request, which the caller releases; undefined when the backend is full. */
  take(name: string, limits: BackendLimits): Promise<TakenPlace | undefined>;
  /** The limit that the next request would reach; undefined if there is none. */
  reached(name: string, limits: BackendLimits): Promise<LimitName | undefined>;
  /** Counts the tokens of a request that has ended, if its backend limits them. */
  addTokens(name: string, tokens: number): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The permission to send one request to a backend with limits. */
export interface TakenPlace {
  /** The request has ended at the upstream; only the first call of the two counts. */
  release(): void;
  /** The request was left: the upstream notices a moment later that its connection was closed. */
  releaseLater(): void;
}

interface LimitsDependencies {
  readonly store: LimitStore;
  readonly list: Pick<BackendList, 'get'>;
  readonly log: Log;
}

/** Often enough that one or two prolongations can fail. */
const KEEP_EVERY_MS = PLACE_KEPT_MS / 3;
/** How long a busy upstream takes to notice that a connection was closed. */
const NOTICED_MS = 25;
const NO_PLACE: TakenPlace = { release: () => undefined, releaseLater: () => undefined };

export function createLimits({ store, list, log }: LimitsDependencies): Limits {
  /** The places of the requests in progress. */
  const held = new Map<string, Place>();
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  /** No request waits for this work. After a failure a place expires, or tokens count in this process only. */
  function inBackground(work: Promise<void>, failed: string): void {
    const done: Promise<void> = work
      .catch((error: unknown) => log.warn({ error }, failed))
      .finally(() => running.delete(done));
    running.add(done);
  }

  function keepAll(): void {
    if (held.size > 0) {
      inBackground(store.keep([...held.values()]), 'prolonging the places of requests failed');
    }
  }

  function release(place: Place): void {
    if (held.delete(place.id)) {
      inBackground(store.release(place), 'releasing the place of a request failed');
    }
  }

  function releaseLater(place: Place): void {
    if (held.has(place.id)) setTimeout(() => release(place), NOTICED_MS).unref();
  }

  return {
    async take(name, limits) {
      const place = { name, id: randomToken() };
      if ((await store.take(place, limits)) !== undefined) return undefined;
      if (limits.concurrency === undefined) return NO_PLACE;
      held.set(place.id, place);
      return { release: () => release(place), releaseLater: () => releaseLater(place) };
    },
    reached: (name, limits) => store.reached(name, limits),
    addTokens(name, tokens) {
      const limits = list.get(name)?.config.limits;
      if (limits?.tpm === undefined && limits?.tokensPerDay === undefined) return;
      if (tokens > 0) inBackground(store.addTokens(name, tokens), 'counting tokens failed');
    },
    async start() {
      timer = setInterval(keepAll, KEEP_EVERY_MS).unref();
      return Promise.resolve();
    },
    async stop() {
      clearInterval(timer);
      for (const place of held.values()) release(place);
      await Promise.all(running);
    },
  };
}
