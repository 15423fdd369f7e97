import { ServiceError } from '@model-gateway/contracts';
import {
  createSequence,
  sha256Hex,
  withTimeout,
  type Channels,
  type Clock,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import type {
  BackendConfig,
  BackendConfigStore,
  StoredBackendConfig,
} from './backend-config-store.ts';
import { createBackendEntry, type BackendList, type BackendEntry } from './backend-list.ts';
import type { Backend } from './backend.ts';
import { LIMIT_NAMES, type BackendLimits } from '../limits/backend-limits.ts';
import type { HealthReport } from '../health/health-report.ts';
import { createPendingChanges, type PendingChange } from './pending-changes.ts';
import { createRetirement } from './retirement.ts';

/** The backends that operators registered, here and on the other replicas. */
export interface Registry {
  /**
   * Registers and probes a backend now; the same name replaces the earlier registration in place. Storing it is best effort
   * and never fails the registration. A probe that takes longer than `firstProbeWaitMs` is not waited for.
   */
  register(config: BackendConfig): Promise<Registered>;
  /**
   * Changes a registration and probes the backend, as `register` does; `changeOf` may be called again with a newer one, so
   * that no change of another request or replica is lost. Undefined when there is no backend of this name.
   */
  change(
    name: string,
    changeOf: (config: BackendConfig) => BackendConfig,
  ): Promise<Changed | undefined>;
  /** Builds and probes a backend without registering it. The caller closes it. */
  tryOut(config: BackendConfig): Promise<TriedBackend>;
  /** The registration of a listed backend, with its upstream key. */
  find(name: string): BackendConfig | undefined;
  /** Returns the name of the removed one, or undefined when there is none at this index. */
  removeAt(index: number): Promise<string | undefined>;
  /** Returns whether there was one. */
  remove(name: string): Promise<boolean>;
}

/** A registration that was just made. */
export interface Registered {
  readonly index: number;
  /** The result of the first probe, or that there is none yet. */
  readonly report: HealthReport;
}

/** A registration that was just changed. */
export interface Changed extends Registered {
  readonly config: BackendConfig;
}

/** A backend that is not registered, and the result of its probe. */
export interface TriedBackend {
  readonly backend: Backend;
  readonly report: HealthReport;
}

/** The registry that follows the store. */
export interface SyncedRegistry extends Registry {
  /** Makes the backends those of the store. If the store cannot be read, they stay as they are. */
  reread(): Promise<void>;
  /** Resolves when the current change is done and new backends are probed, or after 3 s; undefined without a change. */
  changing(): Promise<void> | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Builds backends from registrations. */
export interface BackendBuilder {
  /** For a new registration: rejects when it cannot be used. */
  open(config: BackendConfig): Promise<Backend>;
  /** For an existing registration, also when it cannot be reached now. */
  restore(config: BackendConfig): Backend;
}

export interface RegistryDependencies {
  readonly list: BackendList;
  readonly store: BackendConfigStore;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly log: Log;
  readonly builder: BackendBuilder;
  /** Backends that get requests but are neither stored nor listed. */
  readonly unlisted: readonly BackendConfig[];
  readonly probe: (name: string) => Promise<void>;
  /** Probes a backend that is not in the list. */
  readonly probeOnce: (backend: Backend) => Promise<HealthReport>;
  /** How long a registration waits for its first probe. */
  readonly firstProbeWaitMs: number;
  /** Loads the health of backends that came from the store. */
  readonly loadAll: (names: readonly string[]) => Promise<void>;
  /** Closes the circuit of a backend that an operator registered again or removed. */
  readonly resetCircuit: (name: string) => Promise<void>;
  /** Called when a backend was removed from this replica. */
  readonly onRemoved: (name: string) => void;
}

/** Every process that receives a message reads the store again. */
export const REGISTRY_CHANNEL = 'registry';
const CHANGE_WAIT_MS = 3_000;
const CHANGE_ATTEMPTS_MAX = 10;

export function createRegistry(dependencies: RegistryDependencies): SyncedRegistry {
  const { list, store, channels, clock, log, builder, unlisted } = dependencies;
  const { probe, probeOnce, firstProbeWaitMs, loadAll, resetCircuit, onRemoved } = dependencies;
  const pending = createPendingChanges();
  const changes = createSequence();
  const retirement = createRetirement(log);
  /** Registrations that no backend could be built from; each is logged once. */
  const unusable = new Map<string, string>();
  let subscription: Subscription | undefined;
  let rereading: Promise<void> | undefined;
  let rereadAgain = false;
  let loading: Promise<void> | undefined;
  let stopped = false;

  function adopt(
    backend: Backend,
    config: BackendConfig & Partial<StoredBackendConfig>,
    listed: boolean,
  ): BackendEntry {
    const fingerprint = fingerprintOf(config);
    const earlier = list.get(config.name);
    const entry = createBackendEntry(backend, {
      listed,
      config,
      fingerprint,
      registeredAt: config.createdAt ?? earlier?.registeredAt ?? new Date(clock.now()),
      models:
        earlier?.fingerprint === fingerprint
          ? earlier.report.models
          : staticModels(backend, config),
    });
    retirement.retire(stopped ? entry : list.put(entry));
    return entry;
  }

  function drop(name: string): void {
    retirement.retire(list.remove(name));
    onRemoved(name);
  }

  /** Writes to the store, now or with the next read, and notifies the other replicas. */
  async function keep(change: PendingChange): Promise<void> {
    try {
      await change.write();
      await channels.publish(REGISTRY_CHANNEL, change.name);
    } catch (error) {
      log.error({ error, backend: change.name }, 'storing a change of the backends failed');
    }
  }

  /** True when the backend is new in this process. */
  function takeOver(config: StoredBackendConfig): boolean {
    const { name } = config;
    const fingerprint = fingerprintOf(config);
    const known = list.get(name);
    if (known?.fingerprint === fingerprint) {
      known.registeredAt = config.createdAt;
      return false;
    }
    try {
      adopt(builder.restore(config), config, true);
      unusable.delete(name);
      return true;
    } catch (error) {
      // One that cannot be used must not disable the others.
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
    // Local changes since the read are newer than the read.
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
        log.error({ error }, 'loading the health of new backends failed');
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
        log.error({ error }, 'reading the registered backends failed');
      }
    } while (rereadAgain && !stopped);
    rereading = undefined;
  }

  /** One at a time; a notification during a read causes another read. */
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

  /** Stores a change of a registration; false if the registration was changed elsewhere meanwhile. */
  async function keepChange(current: BackendConfig, next: BackendConfig): Promise<boolean> {
    const { name } = next;
    const isUnstored = pending.failed().some((change) => change.name === name);
    let isCurrent = true;
    const change = pending.begin(name, async () => {
      if (isUnstored) await store.save(next);
      else isCurrent = await store.replace(current, next);
    });
    await keep(change);
    return isCurrent;
  }

  async function tryChange(
    current: BackendConfig,
    changeOf: (config: BackendConfig) => BackendConfig,
  ): Promise<{ readonly entry: BackendEntry; readonly config: BackendConfig } | undefined> {
    const config = changeOf(current);
    const backend = await builder.open(config);
    if (await keepChange(current, config)) return { entry: adopt(backend, config, true), config };
    await backend.close();
    return undefined;
  }

  /** Probes a backend that was registered or changed. */
  async function begin(entry: BackendEntry, kept: Promise<void>): Promise<Registered> {
    const { name } = entry.backend;
    const probed = resetCircuit(name).then(() => probe(name));
    await Promise.all([withTimeout(probed, firstProbeWaitMs, () => undefined), kept]);
    // The order is that of the store: another replica may have registered in between.
    await reread();
    return { index: list.indexOf(name), report: entry.report };
  }

  function find(name: string): BackendConfig | undefined {
    const entry = list.get(name);
    return entry?.listed === true ? entry.config : undefined;
  }

  return {
    reread,
    changing: () =>
      rereading === undefined && loading === undefined
        ? undefined
        : withTimeout(changed(), CHANGE_WAIT_MS, () => undefined),
    async register(config) {
      const entry = adopt(await builder.open(config), config, true);
      return begin(entry, keep(pending.begin(config.name, () => store.save(config))));
    },
    async change(name, changeOf) {
      const done = await changes.run(async () => {
        for (let attempt = 0; attempt < CHANGE_ATTEMPTS_MAX; attempt += 1) {
          const current = find(name);
          if (current === undefined) return undefined;
          const made = await tryChange(current, changeOf);
          if (made !== undefined) return made;
          await reread();
        }
        throw new ServiceError(
          'store_unavailable',
          `the backend '${name}' is being changed by other requests; try again`,
        );
      });
      if (done === undefined) return undefined;
      const { entry, config } = done;
      return { config, ...(await begin(entry, Promise.resolve())) };
    },
    async tryOut(config) {
      const backend = await builder.open(config);
      return { backend, report: await probeOnce(backend) };
    },
    find,
    async removeAt(index) {
      const name = list.listed()[index]?.backend.name;
      return name !== undefined && (await remove(name)) ? name : undefined;
    },
    remove,
    async start() {
      subscription = await channels.subscribe(REGISTRY_CHANNEL, () => void reread());
      await reread();
      // The first request should find what the other replicas know. Backends that hang are not waited for.
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

/** Distinguishes registrations under the same name without revealing their content. */
export const fingerprintOf = (config: BackendConfig): string =>
  sha256Hex(
    JSON.stringify([
      config.name,
      config.type,
      config.url,
      config.apiKey,
      config.models,
      config.capabilities,
      // Absent by default, so that replicas of the version before agree.
      ...(config.authHeader === undefined ? [] : [config.authHeader]),
      ...(config.dialects === undefined || config.dialects.length === 0 ? [] : [config.dialects]),
      ...(config.apiKeys === undefined ? [] : [{ keys: config.apiKeys }]),
      ...(config.limits === undefined ? [] : [limitValues(config.limits)]),
    ]),
  ).slice(0, 32);

/** In one order, whatever the order of the fields is. */
const limitValues = (limits: BackendLimits): readonly (number | null)[] =>
  LIMIT_NAMES.map((name) => limits[name] ?? null);

/** The models known before the first probe; local servers serve only what they list. */
const staticModels = ({ facts }: Backend, { models }: BackendConfig): readonly string[] =>
  facts?.listsAll === true ? [] : models;
