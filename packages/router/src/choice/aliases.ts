import {
  type Channels,
  type Clock,
  isUnreachable,
  type Log,
  randomToken,
  type Requests,
  type Subscription,
  tryParse,
} from '@model-gateway/kernel';
import { z } from 'zod';

export interface Alias {
  readonly alias: string;
  readonly target: string;
  /** When it was set. */
  readonly setAt: Date;
}

/** Other names for models, in the memory of the processes: except for fixed ones, they are lost when all have stopped. */
export interface Aliases {
  /** Replaces an existing alias. Resolves when the change is published. */
  set(alias: string, target: string): Promise<void>;
  remove(alias: string): Promise<void>;
  /** Replaces the fixed aliases, which other changes of the same alias do not affect. Not published. */
  fix(aliases: readonly Alias[]): void;
  /** Sorted by alias. */
  list(): readonly Alias[];
  /** The target of a model id: one hop, aliases do not chain. */
  resolve(model: string): string;
  /** A number that grows with every change. */
  revision(): number;
}

/** Aliases that are kept the same on every replica. */
export interface SharedAliases extends Aliases {
  /** Subscribes to the other replicas and reads their aliases. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Publishes everything and requests missed changes, after the replicas were disconnected for a while. */
  announceAll(): Promise<void>;
}

interface AliasesDependencies {
  readonly channels: Channels;
  readonly requests: Requests;
  readonly clock: Clock;
  readonly log: Log;
}

const CHANNEL = 'aliases';
const PEERS_ADDRESS = 'aliases';
const PEERS_TIMEOUT_MS = 1_000;
/** How long a removal is kept, so that an older message does not restore the alias. */
const REMOVAL_KEPT_MS = 60 * 60 * 1000;

const changeSchema = z.object({
  alias: z.string(),
  /** Null when it was removed. */
  target: z.string().nullable(),
  at: z.number(),
  /** Decides between two changes at the same time. */
  id: z.string(),
});
const changesSchema = z.array(changeSchema);
type Change = z.infer<typeof changeSchema>;

export function createAliases(dependencies: AliasesDependencies): SharedAliases {
  const { channels, requests, clock, log } = dependencies;
  const changes = new Map<string, Change>();
  let fixed: ReadonlyMap<string, Alias> = new Map();
  const subscriptions: Subscription[] = [];
  let revision = 0;

  /** The last write wins, in any order of messages. */
  function merge(news: readonly Change[]): void {
    for (const incoming of news) {
      if (fixed.has(incoming.alias)) continue;
      const known = changes.get(incoming.alias);
      if (known !== undefined && !isNewer(incoming, known)) continue;
      changes.set(incoming.alias, incoming);
      revision += 1;
    }
    const forgottenBefore = clock.now() - REMOVAL_KEPT_MS;
    for (const { alias, target, at } of changes.values()) {
      if (target === null && at < forgottenBefore) changes.delete(alias);
    }
  }

  async function announce(news: readonly Change[]): Promise<void> {
    await channels.publish(CHANNEL, JSON.stringify(news));
  }

  async function announceKnown(): Promise<void> {
    if (changes.size > 0) await announce([...changes.values()]);
  }

  function applyMessage(text: string): void {
    const news = tryParse(changesSchema, text);
    if (news === undefined) return;
    if (news.length > 0) {
      merge(news);
      return;
    }
    // An empty message is a request from a replica that may have missed changes.
    announceKnown().catch((error: unknown) => {
      log.warn({ error }, 'publishing the aliases failed');
    });
  }

  async function change(alias: string, target: string | null): Promise<void> {
    // A change after a known one is newer than it, whatever the clocks say.
    const at = Math.max(clock.now(), (changes.get(alias)?.at ?? 0) + 1);
    const made = { alias, target, at, id: randomToken() };
    merge([made]);
    await announce([made]);
  }

  async function readFromPeers(): Promise<void> {
    try {
      const answer = await requests.call(PEERS_ADDRESS, null, { timeoutMs: PEERS_TIMEOUT_MS });
      merge(changesSchema.parse(answer));
    } catch (error) {
      // Then this process is the first.
      if (!isUnreachable(error))
        log.warn({ error }, 'reading the aliases of another process failed');
    }
  }

  return {
    set: (alias, target) => change(alias, target),
    remove: (alias) => change(alias, null),
    fix(aliases) {
      fixed = new Map(aliases.map((alias) => [alias.alias, alias]));
      // When it is no longer fixed, it is gone.
      for (const alias of fixed.keys()) changes.delete(alias);
      revision += 1;
    },
    list: () =>
      [...changes.values()]
        .flatMap(({ alias, target, at }) =>
          target === null ? [] : [{ alias, target, setAt: new Date(at) }],
        )
        .concat([...fixed.values()])
        .toSorted((left, right) => (left.alias < right.alias ? -1 : 1)),
    resolve: (model) => fixed.get(model)?.target ?? changes.get(model)?.target ?? model,
    revision: () => revision,
    async announceAll() {
      await announceKnown();
      await announce([]);
    },
    async start() {
      const updates = await channels.subscribe(CHANNEL, applyMessage);
      subscriptions.push(updates);
      await readFromPeers();
      // Only after this process knows them itself.
      const peers = await requests.serve(PEERS_ADDRESS, async () =>
        Promise.resolve([...changes.values()]),
      );
      subscriptions.push(peers);
    },
    async stop() {
      for (const subscription of subscriptions.splice(0)) await subscription.close();
    },
  };
}

const isNewer = (incoming: Change, known: Change): boolean =>
  incoming.at === known.at ? incoming.id > known.id : incoming.at > known.at;

const LATEST = ':latest';

/**
 * Finds the listed id that serves the requested one: the same id, or `name:latest` for a bare `name`. One matcher is for
 * many lists: the second id is a text that is hashed only once.
 */
export function modelMatcher(
  requested: string,
): (listed: ReadonlySet<string>) => string | undefined {
  const latest = requested.includes(':') ? requested : `${requested}${LATEST}`;
  return (listed) => {
    if (listed.has(requested)) return requested;
    return listed.has(latest) ? latest : undefined;
  };
}

/** The same for one list. */
export const matchModel = (requested: string, listed: ReadonlySet<string>): string | undefined =>
  modelMatcher(requested)(listed);
