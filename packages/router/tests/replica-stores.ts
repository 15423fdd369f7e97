import {
  randomToken,
  RequestError,
  type Channels,
  type Clock,
  type Entries,
  type Locks,
  type Requests,
} from '@model-gateway/kernel';
import {
  createLocalCircuits,
  createLocalLimits,
  type CircuitStore,
  type LimitStore,
} from '../src/index.ts';

/** What several routers in one test share, as replicas share a Redis. */
export interface ReplicaStores {
  readonly channels: Channels;
  readonly entries: Entries;
  readonly locks: Locks;
  readonly requests: Requests;
  readonly circuits: CircuitStore;
  readonly limitStore: LimitStore;
  /** How many messages went over a channel. */
  published(channel: string): number;
}

export function createReplicaStores(clock: Clock): ReplicaStores {
  const channels = createChannels();
  return {
    channels,
    entries: createEntries(clock),
    locks: createLocks(clock),
    requests: createRequests(),
    circuits: createLocalCircuits({ clock }),
    limitStore: createLocalLimits({ clock }),
    published: (channel) => channels.published(channel),
  };
}

function createChannels(): Channels & { published(channel: string): number } {
  const listeners = new Map<string, Set<(message: string) => void>>();
  const counts = new Map<string, number>();
  return {
    published: (channel) => counts.get(channel) ?? 0,
    async publish(channel, message) {
      counts.set(channel, (counts.get(channel) ?? 0) + 1);
      const now = [...(listeners.get(channel) ?? [])];
      for (const listener of now) queueMicrotask(() => listener(message));
      return Promise.resolve(now.length);
    },
    async subscribe(channel, onMessage) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(onMessage));
      return Promise.resolve({ close: () => Promise.resolve(void all.delete(onMessage)) });
    },
  };
}

function createEntries(clock: Clock): Entries {
  const values = new Map<string, { readonly value: string; readonly until: number }>();
  const get = (key: string): string | undefined => {
    const held = values.get(key);
    return held !== undefined && held.until > clock.now() ? held.value : undefined;
  };
  return {
    get: (key) => Promise.resolve(get(key)),
    put: (key, value, { expiresAfterMs }) =>
      Promise.resolve(void values.set(key, { value, until: clock.now() + expiresAfterMs })),
    async putIfAbsent(key, value, options) {
      const held = get(key);
      if (held === undefined) await this.put(key, value, options);
      return held ?? value;
    },
    remove: (key) => Promise.resolve(void values.delete(key)),
    removeIf: (key, value) => Promise.resolve(get(key) === value && values.delete(key)),
  };
}

function createLocks(clock: Clock): Locks {
  const held = new Map<string, { readonly token: string; readonly until: number }>();
  return {
    async acquire(name, expiresAfterMs) {
      if ((held.get(name)?.until ?? 0) > clock.now()) return Promise.resolve(undefined);
      const token = randomToken();
      held.set(name, { token, until: clock.now() + expiresAfterMs });
      const isHeld = (): boolean => held.get(name)?.token === token;
      return {
        extend: () => Promise.resolve(isHeld()),
        release: () => Promise.resolve(isHeld() && held.delete(name)),
      };
    },
  };
}

function createRequests(): Requests {
  const servers = new Map<string, ((payload: unknown) => Promise<unknown>)[]>();
  return {
    async serve(address, answer) {
      const all = servers.get(address) ?? [];
      servers.set(address, all);
      all.push(answer);
      const close = async (): Promise<void> =>
        Promise.resolve(void all.splice(all.indexOf(answer), 1));
      return Promise.resolve({ close });
    },
    async call(address, payload) {
      const [first] = servers.get(address) ?? [];
      if (first === undefined)
        throw new RequestError('unreachable', `no process serves ${address}`);
      return first(payload);
    },
  };
}
