import {
  randomToken,
  tryParse,
  type Channels,
  type Clock,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import {
  CLOSED_CIRCUIT,
  type Circuit,
  type CircuitRules,
  type CircuitState,
  type CircuitStore,
} from './circuit-store.ts';
import {
  HEALTH_CHANNEL,
  healthMessageSchema,
  type HealthMessage,
} from '../health/health-report.ts';
import {
  afterFailure,
  afterSuccess,
  fromCircuit,
  isSameCircuit,
  allowsRequest,
  stateOf,
  type LocalCircuit,
} from './local-circuit.ts';

/** The outcome of a request. Neutral says nothing about the backend: the request was refused, or the client left. */
export type Outcome = 'success' | 'failure' | 'neutral';

/** The permission to send one request to a backend. */
export interface Permit {
  /** Reports the outcome of the request; only the first call counts. Resolves when it is stored; never rejects. */
  settle(outcome: Outcome): Promise<void>;
}

/** The circuit breakers of all backends. While a circuit is closed and nothing fails, no store is called. */
export interface Breakers {
  stateOf(name: string): CircuitState;
  /** Whether `acquire` may succeed. */
  permits(name: string): boolean;
  /** Undefined when the circuit lets no request through; one process gets the test call of a half-open one. */
  acquire(name: string): Permit | Promise<Permit | undefined>;
  /** Closes the circuit of a backend that was registered again or removed. */
  forget(name: string): Promise<void>;
  /** Reads the circuits again, after messages may have been missed. */
  refresh(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  /** Resolves when all outcomes are stored. */
  stop(): Promise<void>;
}

interface BreakersDependencies {
  readonly store: CircuitStore;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: CircuitRules;
}

const DONE = Promise.resolve();

export function createBreakers(dependencies: BreakersDependencies): Breakers {
  const { store, channels, clock, log, rules } = dependencies;
  const from = randomToken();
  /** Only circuits with failures; all others are closed. */
  const known = new Map<string, LocalCircuit>();
  /** The number of pending calls to the store; the last result counts. */
  const awaited = new Map<string, number>();
  const running = new Set<Promise<unknown>>();
  let subscription: Subscription | undefined;

  function remember(name: string, circuit: LocalCircuit | undefined): void {
    const before = stateOf(known.get(name), clock.now());
    if (circuit === undefined) known.delete(name);
    else known.set(name, circuit);
    const after = stateOf(circuit, clock.now());
    if (before !== after) log.info({ backend: name, circuit: after }, 'a circuit changed');
  }

  /** Changes the circuit in the store and keeps the result, unless a later call is pending. */
  async function step(name: string, work: () => Promise<Circuit>): Promise<Circuit | undefined> {
    awaited.set(name, (awaited.get(name) ?? 0) + 1);
    let circuit: Circuit | undefined;
    try {
      circuit = await work();
    } catch (error) {
      log.error({ error, backend: name }, 'storing a circuit failed');
    }
    const left = (awaited.get(name) ?? 1) - 1;
    if (left > 0) awaited.set(name, left);
    else awaited.delete(name);
    if (left === 0 && circuit !== undefined) remember(name, fromCircuit(circuit, clock.now()));
    return circuit;
  }

  /** Changes the circuit and notifies the other replicas if it is different. */
  async function change(name: string, work: () => Promise<Circuit>): Promise<void> {
    const before = known.get(name);
    const circuit = await step(name, work);
    if (circuit === undefined) return;
    const now = clock.now();
    if (!isSameCircuit(before, fromCircuit(circuit, now), now)) await publishChange(name);
  }

  async function publishChange(name: string): Promise<void> {
    const message: HealthMessage = { kind: 'circuit', name, from };
    await channels.publish(HEALTH_CHANNEL, JSON.stringify(message)).catch((error: unknown) => {
      log.error({ error, backend: name }, 'publishing a circuit change failed');
    });
  }

  async function track(work: Promise<unknown>): Promise<void> {
    running.add(work);
    await work;
    running.delete(work);
  }

  // This process knows an outcome at once, the others a moment later.
  function settle(name: string, outcome: Outcome, token?: string): Promise<void> {
    const circuit = known.get(name);
    if (outcome === 'failure') {
      const stored = track(change(name, () => store.failed(name, rules, token)));
      remember(name, afterFailure(circuit, { now: clock.now(), rules, token }));
      return stored;
    }
    if (outcome === 'success' && (circuit !== undefined || token !== undefined)) {
      const stored = track(change(name, () => store.succeeded(name, token)));
      remember(name, afterSuccess(circuit, token));
      return stored;
    }
    if (token === undefined) return DONE;
    return track(change(name, () => store.releaseTrial(name, token)));
  }

  function permit(name: string, token?: string): Permit {
    let settled: Promise<void> | undefined;
    return {
      settle(outcome) {
        settled ??= settle(name, outcome, token);
        return settled;
      },
    };
  }

  async function acquireTrial(name: string): Promise<Permit | undefined> {
    const token = randomToken();
    const circuit = await step(name, () => store.takeTrial(name, token, rules));
    if (circuit?.trial?.token === token) {
      void track(publishChange(name));
      return permit(name, token);
    }
    // Another process has closed it in the meantime.
    return circuit !== undefined && circuit.openForMs === undefined ? permit(name) : undefined;
  }

  async function read(name: string): Promise<void> {
    try {
      const circuit = await store.read(name);
      // A pending call will return a newer state.
      if (!awaited.has(name)) remember(name, fromCircuit(circuit, clock.now()));
    } catch (error) {
      log.error({ error, backend: name }, 'reading a circuit failed');
    }
  }

  return {
    stateOf: (name) => stateOf(known.get(name), clock.now()),
    permits: (name) => allowsRequest(known.get(name), clock.now()),
    acquire: (name) =>
      known.get(name)?.openUntil === undefined ? permit(name) : acquireTrial(name),
    async forget(name) {
      await change(name, async () => {
        await store.remove(name);
        return CLOSED_CIRCUIT;
      });
    },
    async refresh(names) {
      await Promise.all(names.map(read));
    },
    async start() {
      subscription = await channels.subscribe(HEALTH_CHANNEL, (text) => {
        const message = tryParse(healthMessageSchema, text);
        if (message?.kind !== 'circuit' || message.from === from) return;
        void track(read(message.name));
      });
    },
    async stop() {
      await subscription?.close();
      await Promise.all(running);
    },
  };
}
