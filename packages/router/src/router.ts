import type { Channels, Clock, Entries, Locks, Log, Requests } from '@model-gateway/kernel';
import { createAffinity } from './choice/affinity.ts';
import { createAliases, type Aliases } from './choice/aliases.ts';
import type { BackendConfig, BackendConfigStore } from './registry/backend-config-store.ts';
import { createBackendList, type BackendList, type BackendEntry } from './registry/backend-list.ts';
import type { Backend, Capability, HealthState } from './registry/backend.ts';
import { createBreakers, type FailingOperation } from './circuits/breakers.ts';
import { findListing, isServed } from './choice/choice.ts';
import { createChooser, type ChoiceOptions } from './choice/chooser.ts';
import type { Lease } from './choice/lease.ts';
import { createEvenNumbers } from './choice/even-numbers.ts';
import { createFirstTokens } from './choice/first-tokens.ts';
import { createExplain, type ExplainedTarget } from './choice/explain.ts';
import type { ChoiceFacts } from './choice/rank.ts';
import type { CircuitState, CircuitStore } from './circuits/circuit-store.ts';
import { createHealthChecker } from './health/health-checker.ts';
import { createHealth } from './health/health.ts';
import type { BackendLimits } from './limits/backend-limits.ts';
import type { LimitStore } from './limits/limit-store.ts';
import { createLimits, type Limits } from './limits/limits.ts';
import { createRefusals } from './refusals/refusals.ts';
import { createRegistry, type BackendBuilder, type Registry } from './registry/registry.ts';
import { createRequestCounts } from './choice/request-counts.ts';
import type { RouteRuleStore } from './routes/route-rule-store.ts';
import { createRouteRules, type RouteRules } from './routes/route-rules.ts';

/** The current state of a listed backend. Its index is its position in the list. */
export interface BackendStatus {
  readonly backend: Backend;
  readonly state: HealthState;
  /** Whether its last probe found it healthy, so that it gets requests. One with a refused request may be shown as Degraded. */
  readonly isRoutable: boolean;
  /** Why it is not Healthy, or what is known only in part. */
  readonly reason: string | undefined;
  /** When it was probed last, in milliseconds since the epoch; undefined before the first probe. */
  readonly checkedAt: number | undefined;
  readonly circuit: CircuitState;
  /** The operations that get no requests, or one as a test, though others may. */
  readonly failingOperations: readonly FailingOperation[];
  /** The last known models, without those that the upstream says it does not have; they stay known while the backend is unavailable. */
  readonly models: readonly string[];
  /** How many tokens a model can read and write in one request, where the backend lists it. */
  readonly contextLengths: ReadonlyMap<string, number>;
  /** When the name was first registered. */
  readonly registeredAt: Date;
  can(capability: Capability, model: string): boolean;
  /** Its capabilities, as of its last probe. */
  readonly capabilities: readonly Capability[];
  /** What it may be sent; undefined where nothing limits it. */
  readonly limits: BackendLimits | undefined;
  /** The number of requests it received from all replicas, as far as this one knows. */
  readonly requests: number;
}

/** A model as a backend lists it that may serve it. */
export interface ListedModel {
  readonly backend: Pick<Backend, 'name' | 'kind'>;
  /** As that backend lists it. */
  readonly model: string;
}

/** A backend in use: it is not closed before it is released. */
export interface UsedBackend {
  readonly backend: Backend;
  release(): void;
}

/** Knows every backend and chooses one per request; in memory unless a circuit is half-open or there is a conversation. */
export interface Router {
  choose(model: string, options?: ChoiceOptions): Promise<Lease>;
  /** Where a request would go now, and why not elsewhere. Nothing is sent or counted. */
  explain(
    model: string,
    options?: Pick<ChoiceOptions, 'resolved' | 'capability' | 'provider'>,
  ): Promise<readonly ExplainedTarget[]>;
  /** Whether a healthy backend serves the model, regardless of its circuit: for queued work. */
  canServe(
    model: string,
    options?: Omit<ChoiceOptions, 'conversationId' | 'exclude' | 'trace'>,
  ): boolean;
  /** Every backend that may serve the model, by its route if there is one, healthy or not, and its id of the model. */
  targetsOf(model: string, resolved: string): readonly ListedModel[];
  /** A backend by its name, healthy or not, to continue an earlier task; undefined if it is not registered. */
  use(name: string): UsedBackend | undefined;
  /** The listed backends in registration order. */
  list(): readonly BackendStatus[];
  /** The backends that get requests but are in no listing or count. */
  unlisted(): readonly BackendStatus[];
  /** Probes one backend now, after a known change. */
  probe(name: string): Promise<void>;
  /** Probes a backend at its new address, with a closed circuit as after a registration. */
  moved(name: string): Promise<void>;
  readonly registry: Registry;
  readonly aliases: Aliases;
  readonly routes: RouteRules;
  readonly limits: Pick<Limits, 'addTokens'>;
  /** Reads the state of the other replicas after a lost connection. */
  refresh(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RouterDependencies {
  readonly channels: Channels;
  readonly entries: Entries;
  readonly locks: Locks;
  readonly requests: Requests;
  readonly circuits: CircuitStore;
  readonly limitStore: LimitStore;
  readonly store: BackendConfigStore;
  readonly routeStore: RouteRuleStore;
  readonly builder: BackendBuilder;
  /** Backends that get requests but are neither stored nor listed. */
  readonly unlisted?: readonly BackendConfig[];
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: RouterRules;
  /** Where the numbers of a route begin, from 0 to below 1; for tests. */
  readonly random?: () => number;
}

export interface RouterRules {
  readonly healthIntervalMs: number;
  readonly probeTimeoutMs: number;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
  /** How long a registration waits for its first probe; 5 s by default. */
  readonly firstProbeWaitMs?: number;
}

const TRIAL_MS = 60_000;
const REPORT_KEPT_ROUNDS = 3;
const FIRST_PROBE_WAIT_MS = 5_000;
const PROBE_PAUSE_MS = 5_000;

export function createRouter(dependencies: RouterDependencies): Router {
  const { channels, entries, locks, requests, circuits, store, clock, log, rules } = dependencies;
  const list = createBackendList();
  const counts = createRequestCounts({ channels, log });
  const limits = createLimits({ store: dependencies.limitStore, list, log });
  const firstTokens = createFirstTokens({ channels, entries, clock, log });
  const affinity = createAffinity(entries);
  const aliases = createAliases({ channels, requests, clock, log });
  const routes = createRouteRules({ store: dependencies.routeStore, channels, log });
  const breakers = createBreakers({
    store: circuits,
    channels,
    clock,
    log,
    rules: {
      failuresMax: rules.breakerFailures,
      openMs: rules.breakerOpenMs,
      trialMs: TRIAL_MS,
    },
  });
  /** The backends that are being probed because of a refused request. */
  const probing = new Set<string>();
  const refusals = createRefusals({ channels, entries, clock, log });
  const health = createHealth({
    list,
    channels,
    entries,
    clock,
    log,
    probeTimeoutMs: rules.probeTimeoutMs,
    reportKeptMs: rules.healthIntervalMs * REPORT_KEPT_ROUNDS,
    // What opened the circuit was the outage that has ended: requests come back with this probe.
    onRecovered: (name) => breakers.forget(name),
  });
  async function resetCircuit(name: string): Promise<void> {
    firstTokens.forget(name);
    await Promise.all([breakers.forget(name), refusals.forget(name)]);
  }
  const registry = createRegistry({
    list,
    store,
    channels,
    clock,
    log,
    builder: dependencies.builder,
    unlisted: dependencies.unlisted ?? [],
    probe: (name) => health.probe(name),
    probeOnce: (backend) => health.probeOnce(backend),
    firstProbeWaitMs: rules.firstProbeWaitMs ?? FIRST_PROBE_WAIT_MS,
    async loadAll(fresh) {
      await Promise.all([health.loadAll(fresh), refusals.load(fresh)]);
    },
    resetCircuit,
    onRemoved(name) {
      counts.forget(name);
      firstTokens.forget(name);
      refusals.drop(name);
    },
  });
  const statusOf = (entry: BackendEntry): BackendStatus => {
    const { backend, registeredAt } = entry;
    const { state, reason, checkedAt, contextLengths, capabilities } = entry.report;
    return {
      backend,
      ...shownHealth({ state, reason }, refusals.keyRefusal(backend.name)),
      isRoutable: state === 'Healthy',
      checkedAt,
      circuit: breakers.stateOf(backend.name),
      failingOperations: breakers.failingOperations(backend.name),
      models: entry.report.models.filter((model) => !entry.lacks(model)),
      contextLengths,
      capabilities,
      registeredAt,
      can: (capability, model) => entry.can(capability, model),
      limits: entry.config.limits,
      requests: counts.of(backend.name),
    };
  };
  /** The probe decides whether the key itself is refused. Many refused requests cause one probe. */
  function probeSoon(name: string): void {
    const checkedAt = list.get(name)?.report.checkedAt ?? 0;
    if (probing.has(name) || clock.now() - checkedAt < PROBE_PAUSE_MS) return;
    probing.add(name);
    void health.probe(name).finally(() => probing.delete(name));
  }
  const names = (): readonly string[] => list.all().map(({ backend }) => backend.name);
  const checker = createHealthChecker({
    locks,
    channels,
    log,
    intervalMs: rules.healthIntervalMs,
    async checkAll() {
      await registry.reread();
      log.debug({ backends: names().length }, 'probing every backend');
      await Promise.all([health.probeAll(names()), breakers.refresh(names())]);
    },
    async onRoundElsewhere() {
      await registry.reread();
      await health.probeAll(unlistedOf(list).map(({ backend }) => backend.name));
      await breakers.refresh(names());
    },
  });
  const facts: ChoiceFacts = {
    permits: (name, operation) => breakers.permits(name, operation),
    hasNoRefusals: () => refusals.isEmpty(),
    coolingMs: (name, model) => refusals.coolingMs(name, model),
    isKeyRefused: (name) => refusals.isKeyRefused(name),
  };
  const explain = createExplain({
    list,
    facts,
    limits,
    refusals,
    firstTokens,
    counts,
  });
  const chooser = createChooser({
    list,
    facts,
    breakers,
    refusals,
    counts,
    limits,
    firstTokens,
    affinity,
    changing: () => registry.changing(),
    onKeyRefused: probeSoon,
    clock,
    log,
    nextNumber: createEvenNumbers(dependencies.random ?? Math.random),
  });
  // The registry stops first: what is being probed then ends soon.
  const parts = [
    counts,
    firstTokens,
    limits,
    breakers,
    refusals,
    health,
    aliases,
    routes,
    checker,
    registry,
  ];

  return {
    choose(model, options = {}) {
      const resolved = options.resolved ?? aliases.resolve(model);
      // Field by field: spreading objects costs more than the choice itself.
      return chooser.choose({
        requested: model,
        model: resolved,
        rule: routes.find(model, resolved),
        capability: options.capability,
        provider: options.provider,
        conversationId: options.conversationId,
        allows: options.allows,
        hasMedia: options.hasMedia,
        exclude: options.exclude,
        trace: options.trace,
      });
    },
    explain(model, { resolved = aliases.resolve(model), ...options } = {}) {
      const rule = routes.find(model, resolved);
      return explain({ requested: model, model: resolved, rule, ...options });
    },
    canServe(model, { resolved = aliases.resolve(model), ...options } = {}) {
      const rule = routes.find(model, resolved);
      return isServed(list.all(), { requested: model, model: resolved, rule, ...options });
    },
    targetsOf(model, resolved) {
      const rule = routes.find(model, resolved);
      return findListing(list.all(), { requested: model, model: resolved, rule }).map(
        ({ entry, model: listed }) => ({ backend: entry.backend, model: listed }),
      );
    },
    use(name) {
      const entry = list.get(name);
      return entry === undefined ? undefined : { backend: entry.backend, release: entry.use() };
    },
    list: () => list.listed().map(statusOf),
    unlisted: () => unlistedOf(list).map(statusOf),
    probe: (name) => health.probe(name),
    async moved(name) {
      await resetCircuit(name);
      await health.probe(name);
    },
    registry,
    aliases,
    routes,
    limits,
    async refresh() {
      await Promise.all([
        registry.reread(),
        breakers.refresh(names()),
        refusals.load(names()),
        aliases.announceAll(),
        routes.reload(),
      ]);
    },
    async start() {
      for (const part of parts) await part.start();
      await breakers.load(names());
    },
    async stop() {
      for (const part of parts.toReversed()) await part.stop();
    },
  };
}

const unlistedOf = (list: BackendList): readonly BackendEntry[] =>
  list.all().filter(({ listed }) => !listed);

/** A backend whose key is refused answers probes, but no requests. */
const shownHealth = (
  health: Pick<BackendStatus, 'state' | 'reason'>,
  keyRefusal: string | undefined,
): Pick<BackendStatus, 'state' | 'reason'> =>
  health.state === 'Healthy' && keyRefusal !== undefined
    ? { state: 'Degraded', reason: keyRefusal }
    : health;
