import {
  randomToken,
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
import { HEALTH_CHANNEL, healthMessageSchema, type HealthMessage } from './health-report.ts';
import { parseMessage } from './parse-message.ts';

/** What became of a request. Neutral is one that says nothing about the backend: refused, or left by the client. */
export type Outcome = 'success' | 'failure' | 'neutral';

/** The leave to send one request to a backend. */
export interface Pass {
  /** Says what became of the request; what is said first counts. Never rejects. */
  settle(outcome: Outcome): Promise<void>;
}

/** The circuit breakers of all backends. While a circuit is closed and nothing fails, no store is asked. */
export interface Breakers {
  stateOf(name: string): CircuitState;
  /** Whether to try `enter` at all. */
  permits(name: string): boolean;
  /** Undefined when the circuit lets no request through: of a half-open one, one process gets the one test call. */
  enter(name: string): Pass | Promise<Pass | undefined>;
  /** Closes the circuit of a backend that was registered anew or removed. */
  forget(name: string): Promise<void>;
  /** Reads how the circuits stand, for when news may have been missed. */
  refresh(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface BreakersDependencies {
  readonly store: CircuitStore;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: CircuitRules;
}

/** A circuit as this process knows it, on its own clock. */
interface KnownCircuit {
  readonly failures: number;
  readonly openUntil: number | undefined;
  readonly trialUntil: number | undefined;
}

const DONE = Promise.resolve();

export function createBreakers(dependencies: BreakersDependencies): Breakers {
  const { store, channels, clock, log, rules } = dependencies;
  const from = randomToken();
  /** Only circuits with failures. */
  const known = new Map<string, KnownCircuit>();
  let subscription: Subscription | undefined;

  /** Takes over what the store answered; true when that is news. */
  function adopt(name: string, circuit: Circuit): boolean {
    const before = known.get(name);
    const now = clock.now();
    const { failures, openForMs, trial } = circuit;
    if (failures === 0 && openForMs === undefined) known.delete(name);
    else {
      known.set(name, {
        failures,
        openUntil: openForMs === undefined ? undefined : now + openForMs,
        trialUntil: trial === undefined ? undefined : now + trial.forMs,
      });
    }
    const after = known.get(name);
    return (
      before?.failures !== after?.failures ||
      (before?.trialUntil === undefined) !== (after?.trialUntil === undefined) ||
      circuitState(before, now) !== circuitState(after, now)
    );
  }

  /** Makes one step in the store and tells the other replicas when it changed something. */
  async function step(name: string, work: () => Promise<Circuit>): Promise<Circuit | undefined> {
    try {
      const before = circuitState(known.get(name), clock.now());
      const circuit = await work();
      if (!adopt(name, circuit)) return circuit;
      const after = circuitState(known.get(name), clock.now());
      if (before !== after) {
        log.info({ backend: name, circuit: after, failures: circuit.failures }, 'circuit changed');
      }
      const message: HealthMessage = { kind: 'circuit', name, from };
      await channels.publish(HEALTH_CHANNEL, JSON.stringify(message));
      return circuit;
    } catch (error) {
      log.error({ error, backend: name }, 'a circuit could not be kept');
      return undefined;
    }
  }

  async function read(name: string): Promise<void> {
    try {
      adopt(name, await store.read(name));
    } catch (error) {
      log.error({ error, backend: name }, 'a circuit could not be read');
    }
  }

  function settle(name: string, outcome: Outcome, token?: string): Promise<void> {
    if (outcome === 'failure') return ignore(step(name, () => store.failed(name, rules, token)));
    if (outcome === 'success') {
      if (token === undefined && !known.has(name)) return DONE;
      return ignore(step(name, () => store.succeeded(name, token)));
    }
    if (token === undefined) return DONE;
    return ignore(step(name, () => store.releaseTrial(name, token)));
  }

  function pass(name: string, token?: string): Pass {
    let settled: Promise<void> | undefined;
    return {
      settle(outcome) {
        settled ??= settle(name, outcome, token);
        return settled;
      },
    };
  }

  async function enterHalfOpen(name: string): Promise<Pass | undefined> {
    const token = randomToken();
    const circuit = await step(name, () => store.takeTrial(name, token, rules));
    if (circuit?.trial?.token === token) return pass(name, token);
    // Another process has closed it in the meantime.
    return circuit !== undefined && circuit.openForMs === undefined ? pass(name) : undefined;
  }

  return {
    stateOf: (name) => circuitState(known.get(name), clock.now()),
    permits(name) {
      const circuit = known.get(name);
      if (circuit?.openUntil === undefined) return true;
      return Math.max(circuit.openUntil, circuit.trialUntil ?? 0) <= clock.now();
    },
    enter(name) {
      return known.get(name)?.openUntil === undefined ? pass(name) : enterHalfOpen(name);
    },
    async forget(name) {
      await step(name, async () => {
        await store.remove(name);
        return CLOSED_CIRCUIT;
      });
    },
    async refresh(names) {
      await Promise.all(names.map(read));
    },
    async start() {
      subscription = await channels.subscribe(HEALTH_CHANNEL, (text) => {
        const message = parseMessage(healthMessageSchema, text);
        if (message?.kind === 'circuit' && message.from !== from) void read(message.name);
      });
    },
    async stop() {
      await subscription?.close();
    },
  };
}

function circuitState(circuit: KnownCircuit | undefined, now: number): CircuitState {
  if (circuit?.openUntil === undefined) return 'closed';
  return circuit.openUntil > now ? 'open' : 'half-open';
}

async function ignore(work: Promise<unknown>): Promise<void> {
  await work;
}
