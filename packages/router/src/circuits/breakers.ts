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

/** What became of a request. Neutral is one that says nothing about the backend: refused, or left by the client. */
export type Outcome = 'success' | 'failure' | 'neutral';

/** The leave to send one request to a backend. */
export interface Permit {
  /** Says what became of the request; what is said first counts. Resolves when it is in the store; never rejects. */
  settle(outcome: Outcome): Promise<void>;
}

/** The circuit breakers of all backends. While a circuit is closed and nothing fails, no store is asked. */
export interface Breakers {
  stateOf(name: string): CircuitState;
  /** Whether to try `acquire` at all. */
  permits(name: string): boolean;
  /** Undefined when the circuit lets no request through: of a half-open one, one process gets the one test call. */
  acquire(name: string): Permit | Promise<Permit | undefined>;
  /** Closes the circuit of a backend that was registered anew or removed. */
  forget(name: string): Promise<void>;
  /** Reads how the circuits stand, for when news may have been missed. */
  refresh(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  /** Resolves when what was settled is in the store. */
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
  /** Only circuits with failures: those of the other backends are closed. */
  const known = new Map<string, LocalCircuit>();
  /** How many answers of the store are awaited; the last one counts. */
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

  /** Makes a step in the store and takes over its answer, unless one is awaited that knows more. */
  async function step(name: string, work: () => Promise<Circuit>): Promise<Circuit | undefined> {
    awaited.set(name, (awaited.get(name) ?? 0) + 1);
    let circuit: Circuit | undefined;
    try {
      circuit = await work();
    } catch (error) {
      log.error({ error, backend: name }, 'a circuit could not be kept');
    }
    const left = (awaited.get(name) ?? 1) - 1;
    if (left > 0) awaited.set(name, left);
    else awaited.delete(name);
    if (left === 0 && circuit !== undefined) remember(name, fromCircuit(circuit, clock.now()));
    return circuit;
  }

  /** Makes a step and tells the other replicas when it changed something. */
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
      log.error({ error, backend: name }, 'the change of a circuit was not told');
    });
  }

  async function track(work: Promise<unknown>): Promise<void> {
    running.add(work);
    await work;
    running.delete(work);
  }

  // What a request met is known here at once, and to the others a moment later.
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
      // A step that is under way will answer what holds after it.
      if (!awaited.has(name)) remember(name, fromCircuit(circuit, clock.now()));
    } catch (error) {
      log.error({ error, backend: name }, 'a circuit could not be read');
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
