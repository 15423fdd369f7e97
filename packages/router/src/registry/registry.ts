import {
  sha256Hex,
  withTimeout,
  type Channels,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
import { createSlot, type BackendList } from './backend-list.ts';
import type { Backend } from './backend.ts';
import { createPendingChanges, type PendingChange } from './pending-changes.ts';
import { createRetirement } from './retirement.ts';

/** The backends that operators registered, here and on the other replicas. */
export interface Registry {
  /**
   * Registers and probes a backend now; the same name replaces the earlier registration in place. Keeping it is best effort
   * and never fails the registration.
   */
  register(config: BackendConfig): Promise<{ readonly index: number }>;
  /** Answers the name of the removed one, or undefined when there is none at this index. */
  removeAt(index: number): Promise<string | undefined>;
  /** Answers whether there was one. */
  remove(name: string): Promise<boolean>;
}

/** The registry that is kept in step with the store. */
export interface SyncedRegistry extends Registry {
  /** Adds, replaces and removes so that the backends are those of the store. What cannot be read now stays as it was. */
  reread(): Promise<void>;
  /** Resolves when the change under way is done and new backends are known, or after 3 s; undefined while there is none. */
  changing(): Promise<void> | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the backends that registrations describe. */
export interface BackendBuilder {
  /** For a new registration: rejects when it cannot be used. */
  open(config: BackendConfig): Promise<Backend>;
  /** For one that was registered before, also when it cannot be reached now. */
  restore(config: BackendConfig): Backend;
}

export interface RegistryDependencies {
  readonly list: BackendList;
  readonly store: BackendConfigStore;
  readonly channels: Channels;
  readonly log: Log;
  readonly builder: BackendBuilder;
  /** Backends that are served but neither kept nor listed. */
  readonly unlisted: readonly BackendConfig[];
  readonly probe: (name: string) => Promise<void>;
  /** Learns about backends that came from the store. */
  readonly loadAll: (names: readonly string[]) => Promise<void>;
  /** Closes the circuit of a backend that an operator registered anew or removed. */
  readonly resetCircuit: (name: string) => Promise<void>;
  /** A backend is no more on this replica. */
  readonly onRemoved: (name: string) => void;
}

/** Everybody who hears something on it reads the store again. */
export const REGISTRY_CHANNEL = 'registry';
const CHANGE_WAIT_MS = 3_000;

export function createRegistry(dependencies: RegistryDependencies): SyncedRegistry {
  const { list, store, channels, log, builder, unlisted } = dependencies;
  const { probe, loadAll, resetCircuit, onRemoved } = dependencies;
  const pending = createPendingChanges();
  const retirement = createRetirement(log);
  /** Registrations of the store that no backend could be built of, so that the log says it once. */
  const unusable = new Map<string, string>();
  let subscription: Subscription | undefined;
  let rereading: Promise<void> | undefined;
  let rereadAgain = false;
  let loading: Promise<void> | undefined;
  let stopped = false;

  function adopt(backend: Backend, config: BackendConfig, listed: boolean): void {
    const fingerprint = fingerprintOf(config);
    const earlier = list.get(config.name);
    const slot = createSlot(backend, {
      listed,
      fingerprint,
      models:
        earlier?.fingerprint === fingerprint
          ? earlier.report.models
          : staticModels(backend, config),
    });
    if (stopped) return retirement.retire(slot);
    retirement.retire(list.put(slot));
  }

  function drop(name: string): void {
    retirement.retire(list.remove(name));
    onRemoved(name);
  }

  /** Writes to the store, now or when the list is read again, and tells the other replicas. */
  async function keep(change: PendingChange): Promise<void> {
    try {
      await change.write();
      await channels.publish(REGISTRY_CHANNEL, change.name);
    } catch (error) {
      log.error({ error, backend: change.name }, 'a change of the backends could not be kept');
    }
  }

  /** True when the backend is a new one here. */
  function takeOver(config: BackendConfig): boolean {
    const { name } = config;
    const fingerprint = fingerprintOf(config);
    if (list.get(name)?.fingerprint === fingerprint) return false;
    try {
      adopt(builder.restore(config), config, true);
      unusable.delete(name);
      return true;
    } catch (error) {
      // One that cannot be used must not take the others away.
      if (unusable.get(name) !== fingerprint) {
        log.error({ error, backend: name }, 'a registered backend cannot be used');
      }
      unusable.set(name, fingerprint);
      return false;
    }
  }

  async function rereadOnce(): Promise<void> {
    for (const change of pending.failed()) await keep(change);
    const mark = pending.mark();
    const configs = await store.list();
    // What was changed here in the meantime is newer than what was read.
    const settled = (name: string): boolean => pending.isSettledSince(name, mark);
    const fresh = configs.filter((config) => settled(config.name) && takeOver(config));
    const names = configs.map(({ name }) => name);
    for (const { backend } of list.listed()) {
      if (names.includes(backend.name) || !settled(backend.name)) continue;
      drop(backend.name);
    }
    list.arrange(names);
    const loaded = loadAll(fresh.map(({ name }) => name))
      .catch((error: unknown) => {
        log.error({ error }, 'the health of new backends is not known');
      })
      .finally(() => {
        if (loading === loaded) loading = undefined;
      });
    loading = loaded;
  }

  async function rereadAll(): Promise<void> {
    do {
      rereadAgain = false;
      try {
        await rereadOnce();
      } catch (error) {
        log.error({ error }, 'the registered backends could not be read');
      }
    } while (rereadAgain && !stopped);
    rereading = undefined;
  }

  /** One at a time; news that come while it reads are read afterwards. */
  function reread(): Promise<void> {
    if (stopped) return Promise.resolve();
    rereadAgain = true;
    rereading ??= rereadAll();
    return rereading;
  }

  async function changed(): Promise<void> {
    await rereading;
    await loading;
  }

  async function remove(name: string): Promise<boolean> {
    if (list.indexOf(name) === -1) return false;
    drop(name);
    await Promise.all([keep(pending.begin(name, () => store.remove(name))), resetCircuit(name)]);
    return true;
  }

  return {
    reread,
    changing: () =>
      rereading === undefined && loading === undefined
        ? undefined
        : withTimeout(changed(), CHANGE_WAIT_MS, () => undefined),
    async register(config) {
      const { name } = config;
      adopt(await builder.open(config), config, true);
      await Promise.all([
        resetCircuit(name).then(() => probe(name)),
        keep(pending.begin(name, () => store.save(config))),
      ]);
      // The order of registration is the store's: another replica may have come in between.
      await reread();
      return { index: list.indexOf(name) };
    },
    async removeAt(index) {
      const name = list.listed()[index]?.backend.name;
      return name !== undefined && (await remove(name)) ? name : undefined;
    },
    remove,
    async start() {
      subscription = await channels.subscribe(REGISTRY_CHANNEL, () => void reread());
      await reread();
      // Whoever asks this process first should find what the others know. Backends that hang are not waited for.
      await withTimeout(changed(), CHANGE_WAIT_MS, () => undefined);
      for (const config of unlisted) {
        adopt(builder.restore(config), config, false);
        await probe(config.name);
      }
    },
    async stop() {
      stopped = true;
      await subscription?.close();
      await rereading;
      await retirement.closeAll(list.clear());
    },
  };
}

/** Tells one registration from another under the same name without telling what is in it. */
export const fingerprintOf = (config: BackendConfig): string =>
  sha256Hex(
    JSON.stringify([
      config.name,
      config.type,
      config.url,
      config.apiKey,
      config.models,
      config.capabilities,
    ]),
  ).slice(0, 32);

/** What is known to be served before anybody could ask; local servers serve only what they list. */
const staticModels = ({ kind }: Backend, { models }: BackendConfig): readonly string[] =>
  kind === 'local-server' ? [] : models;
