import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { manualClock, silentLog, systemClock, type Clock } from '@model-gateway/kernel';
import {
  createRouter,
  fingerprintOf,
  type Backend,
  type BackendConfig,
  type BackendConfigStore,
  type Capability,
  type Probe,
  type Router,
  type RouteRule,
  type RouteRuleStore,
} from '../src/index.ts';
import type { RouterDependencies } from '../src/router.ts';
import { createReplicaStores, type ReplicaStores } from './replica-stores.ts';

/** An upstream of a test: what it answers to probes, and how often it was asked. */
export interface FakeUpstream {
  kind: string;
  capabilities: readonly Capability[];
  /** The upstream with each of its keys, where it has several. */
  keys?: readonly Backend[];
  /** The models that it can do that for; all of them by default. */
  serves?: (capability: Capability, model: string) => boolean;
  probe: () => Promise<Probe>;
  probes: number;
  closed: number;
}

/** Routers that share their stores, as the replicas of one installation do. */
export interface Replicas {
  readonly stores: ReplicaStores;
  readonly upstreams: ReadonlyMap<string, FakeUpstream>;
  /** The stored routes, of all replicas. */
  readonly routes: RouteRuleStore;
  readonly kept: BackendConfig[];
  /** While true the database does not answer. */
  storeIsAway: boolean;
  upstream(name: string, options?: Partial<FakeUpstream>): BackendConfig;
  start(options?: Partial<RouterDependencies>): Promise<Router>;
  stop(): Promise<void>;
}

export const serving =
  (...models: string[]) =>
  (): Promise<Probe> =>
    Promise.resolve({ state: 'Healthy', models });

const RULES = {
  healthIntervalMs: 60_000,
  probeTimeoutMs: 100,
  breakerFailures: 3,
  breakerOpenMs: 30_000,
};

export function createReplicas(clock: Clock = manualClock(1_000_000)): Replicas {
  const stores = createReplicaStores(clock);
  const upstreams = new Map<string, FakeUpstream>();
  const routers: Router[] = [];

  function createBackend({ name }: BackendConfig): Backend {
    const upstream = upstreams.get(name);
    if (upstream === undefined) throw new Error(`there is no upstream ${name}`);
    return {
      name,
      kind: upstream.kind,
      capabilities: () => new Set(upstream.capabilities),
      ...(upstream.serves === undefined ? {} : { serves: upstream.serves }),
      keys: upstream.keys,
      probe() {
        upstream.probes += 1;
        return upstream.probe();
      },
      close: () => Promise.resolve(void (upstream.closed += 1)),
    };
  }

  const replicas: Replicas = {
    stores,
    upstreams,
    routes: memoryRoutes(),
    kept: [],
    storeIsAway: false,
    upstream(name, options = {}) {
      upstreams.set(name, {
        kind: 'external',
        capabilities: ['chat'],
        probe: serving('m'),
        probes: 0,
        closed: 0,
        ...options,
      });
      return configOf(name);
    },
    async start(options = {}) {
      const router = createRouter({
        ...stores,
        store: storeOf(replicas),
        routeStore: replicas.routes,
        builder: { open: async (config) => createBackend(config), restore: createBackend },
        clock,
        log: silentLog,
        rules: RULES,
        ...options,
      });
      routers.push(router);
      await router.start();
      return router;
    },
    async stop() {
      for (const router of routers.splice(0)) await router.stop();
    },
  };
  return replicas;
}

function memoryRoutes(): RouteRuleStore {
  const rules = new Map<string, RouteRule>();
  return {
    list: () => Promise.resolve([...rules.values()]),
    set: (rule) => Promise.resolve(void rules.set(rule.model, rule)),
    remove: (model) => Promise.resolve(rules.delete(model)),
  };
}

export const configOf = (name: string, changes: Partial<BackendConfig> = {}): BackendConfig => ({
  name,
  type: 'external',
  url: `http://${name}.example.com`,
  apiKey: null,
  models: [],
  capabilities: null,
  ...changes,
});

/** When every backend of the tests was registered. */
export const REGISTERED_AT = new Date('2026-01-02T03:04:05Z');

/** The database that the replicas share. */
export function storeOf(replicas: Replicas): BackendConfigStore {
  const { kept } = replicas;
  const positionOf = (name: string): number => kept.findIndex((config) => config.name === name);
  async function use<Answer>(work: () => Answer): Promise<Answer> {
    if (replicas.storeIsAway) throw new Error('the database is away');
    return Promise.resolve(work());
  }
  return {
    list: () => use(() => kept.map((config) => ({ ...config, createdAt: REGISTERED_AT }))),
    save: (config) =>
      use(() => {
        const position = positionOf(config.name);
        if (position === -1) kept.push(config);
        else kept[position] = config;
      }),
    replace: (current, next) =>
      use(() => {
        const position = positionOf(next.name);
        const stored = kept[position];
        if (stored === undefined || fingerprintOf(stored) !== fingerprintOf(current)) return false;
        kept[position] = next;
        return true;
      }),
    remove: (name) =>
      use(() => {
        const position = positionOf(name);
        if (position !== -1) kept.splice(position, 1);
      }),
  };
}

/** Lets everything happen that is only waiting for its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

const UNTIL_MS_MAX = 120_000;

/** Waits for what a timer brings about. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = systemClock.now() + UNTIL_MS_MAX;
  while (!(await condition())) {
    if (systemClock.now() > deadline) throw new Error('it did not come true');
    await delay(2);
  }
}
