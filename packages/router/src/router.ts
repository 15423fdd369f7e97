import { ServiceError } from '@model-gateway/contracts';
import type { Channels, Clock, Entries, Locks, Log, Requests } from '@model-gateway/kernel';
import { createAffinity } from './affinity.ts';
import { createAliases, type Aliases } from './aliases.ts';
import type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
import { createBackendList } from './backend-list.ts';
import type { Backend, Capability, HealthState } from './backend.ts';
import { createBreakers, type Outcome } from './breakers.ts';
import { findServing, leastUsed, type Candidate, type Wanted } from './choice.ts';
import type { CircuitState, CircuitStore } from './circuit-store.ts';
import { createHealthChecker } from './health-checker.ts';
import { createHealth } from './health.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createRequestCounts } from './request-counts.ts';

/** A listed backend as the router knows it now. Its index is its position in the list. */
export interface RoutedBackend {
  readonly backend: Backend;
  readonly state: HealthState;
  readonly reason: string | undefined;
  readonly circuit: CircuitState;
  /** The last known models; they stay known while the backend is away. */
  readonly models: readonly string[];
  /** How many requests it was given, by all replicas as far as this one has heard. */
  readonly requests: number;
}

export interface ChoiceOptions {
  readonly capability?: Capability | undefined;
  /** A backend's name or kind, in any case. */
  readonly provider?: string | undefined;
  /** Stays with the backend that it was first sent to, as long as that one can serve. */
  readonly conversationId?: string | undefined;
  /** Names of backends that have been tried already. */
  readonly exclude?: readonly string[] | undefined;
}

/** Where a request goes. */
export interface Route {
  readonly backend: Backend;
  /** The model id as the chosen backend lists it. */
  readonly model: string;
  /**
   * Says what became of the request, for the circuit breaker: `failure` when the backend is at fault, `neutral` when the
   * request was refused or left by the client. What is said first counts. Never rejects; waiting for it makes sure that the
   * next choice in this process knows.
   */
  settle(outcome: Outcome): Promise<void>;
}

/** Knows every backend and chooses one per request; in memory unless a circuit is half-open or there is a conversation. */
export interface Router {
  choose(model: string, options?: ChoiceOptions): Promise<Route>;
  /** The listed backends in registration order. */
  list(): readonly RoutedBackend[];
  readonly registry: Registry;
  readonly aliases: Aliases;
  /** Catches up with the other replicas, after they could not be heard. */
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
  readonly store: BackendConfigStore;
  readonly createBackend: (config: BackendConfig) => Backend | Promise<Backend>;
  /** Backends that are routed to but neither kept nor listed. */
  readonly unlisted?: readonly BackendConfig[];
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: RouterRules;
}

export interface RouterRules {
  readonly healthIntervalMs: number;
  readonly probeTimeoutMs: number;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
}

const TRIAL_MS = 60_000;
const REPORT_KEPT_ROUNDS = 3;

export function createRouter(dependencies: RouterDependencies): Router {
  const { channels, entries, locks, requests, circuits, store, clock, log, rules } = dependencies;
  const list = createBackendList();
  const counts = createRequestCounts({ channels, log });
  const affinity = createAffinity(entries);
  const aliases = createAliases({ channels, requests, clock, log });
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
  const health = createHealth({
    list,
    channels,
    entries,
    log,
    probeTimeoutMs: rules.probeTimeoutMs,
    reportKeptMs: rules.healthIntervalMs * REPORT_KEPT_ROUNDS,
  });
  const registry = createRegistry({
    list,
    store,
    channels,
    log,
    createBackend: dependencies.createBackend,
    unlisted: dependencies.unlisted ?? [],
    probe: (name) => health.probe(name),
    learn: (name) => health.learn(name),
    forget: (name) => breakers.forget(name),
  });
}
