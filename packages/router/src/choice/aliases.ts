import {
  randomToken,
  RequestError,
  tryParse,
  type Channels,
  type Clock,
  type Log,
  type Requests,
  type Subscription,
} from '@model-gateway/kernel';
import { z } from 'zod';

export interface Alias {
  readonly alias: string;
  readonly target: string;
}

/** Other names for models. They live in the memory of the running processes and are gone when all have stopped. */
export interface Aliases {
  /** An existing alias is replaced. Resolves when the other replicas have been told. */
  set(alias: string, target: string): Promise<void>;
  remove(alias: string): Promise<void>;
  /** Sorted by alias. */
  list(): readonly Alias[];
  /** What a model id means: one hop, aliases do not chain. */
  resolve(model: string): string;
}

/** Aliases that are kept the same on every replica. */
export interface SharedAliases extends Aliases {
  /** Listens to the other replicas and takes over what they know. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Tells the others everything and asks what was missed, for when the replicas could not hear each other for a while. */
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
/** For so long a removal is remembered, so that news from before it do not bring the alias back. */
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
  const subscriptions: Subscription[] = [];

  /** The last write wins, in whatever order the news come. */
  function merge(news: readonly Change[]): void {
    for (const incoming of news) {
      const known = changes.get(incoming.alias);
      if (known === undefined || isNewer(incoming, known)) changes.set(incoming.alias, incoming);
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
    // No news is the question of somebody who may have missed some.
    announceKnown().catch((error: unknown) => {
      log.warn({ error }, 'the aliases were not told to whoever asked');
    });
  }

  async function change(alias: string, target: string | null): Promise<void> {
    // A change that is made after another was seen comes after it, whatever the clocks say.
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
      const isFirst = error instanceof RequestError && error.reason === 'unreachable';
      if (!isFirst) log.warn({ error }, 'no other process told its aliases');
    }
  }

  return {
    set: (alias, target) => change(alias, target),
    remove: (alias) => change(alias, null),
    list: () =>
      [...changes.values()]
        .flatMap(({ alias, target }) => (target === null ? [] : [{ alias, target }]))
        .toSorted((left, right) => (left.alias < right.alias ? -1 : 1)),
    resolve: (model) => changes.get(model)?.target ?? model,
    async announceAll() {
      await announceKnown();
      await announce([]);
    },
    async start() {
      const updates = await channels.subscribe(CHANNEL, applyMessage);
      subscriptions.push(updates);
      await readFromPeers();
      // Not before it knows them itself.
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
