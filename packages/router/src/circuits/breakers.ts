import {
  type Channels,
  type Clock,
  type Log,
  randomToken,
  type Subscription,
  tryParse,
} from '@model-gateway/kernel';
import { CAPABILITIES, type Capability } from '../registry/backend.ts';
import {
  type Circuit,
  type CircuitRules,
  type CircuitState,
  type CircuitStore,
  CLOSED_CIRCUIT,
} from './circuit-store.ts';
import {
  HEALTH_CHANNEL,
  type HealthMessage,
  healthMessageSchema,
} from '../health/health-report.ts';
import {
  afterFailure,
  afterSuccess,
  allowsRequest,
  fromCircuit,
  isSameCircuit,
  type LocalCircuit,
  stateOf,
} from './local-circuit.ts';

/**
 * The outcome of a request. An operation failure counts only for the operation of the request, where that has a circuit of its
 * own. Neutral says nothing: the client left, or the request may be the cause.
 */
export type Outcome = 'success' | 'failure' | 'operation_failure' | 'neutral';

/** The permission to send one request to a backend. */
export interface Permit {
  /** Whether the request is the test call of a half-open circuit. */
  readonly isTrial: boolean;
  /** Reports the outcome of the request; only the first call counts. Resolves when it is stored; never rejects. */
  settle(outcome: Outcome): Promise<void>;
}

/** The circuit breakers of all backends. While a circuit is closed and nothing fails, no store is called. */
export interface Breakers {
  stateOf(name: string, operation?: Capability): CircuitState;
  /** The operations whose circuit is not closed. */
  failingOperations(name: string): readonly FailingOperation[];
  /** Whether `acquire` may succeed. */
  permits(name: string, operation?: Capability): boolean;
  /** How long until a test call may be made; 0 if it may be made now or is being made. */
  waitMs(name: string, operation?: Capability): number;
  /** Undefined when a circuit lets no request through; one process gets the test call of a half-open one. */
  acquire(name: string, operation?: Capability): Permit | Promise<Permit | undefined>;
  /** Closes the circuits of a backend that was registered again or removed. */
  forget(name: string): Promise<void>;
  /** Reads the circuits again, after messages may have been missed. */
  refresh(names: readonly string[]): Promise<void>;
  /** Reads the circuits of these backends at the start; the only process begins with closed ones. */
  load(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  /** Resolves when all outcomes are stored. */
  stop(): Promise<void>;
}

/** An operation of a backend whose circuit is not closed. */
export interface FailingOperation {
  readonly operation: Capability;
  readonly state: CircuitState;
}

/** The permission of one circuit; the token is that of its test call, if it is one. */
interface Pass {
  readonly circuit: string;
  readonly token: string | undefined;
}

interface BreakersDependencies {
  readonly store: CircuitStore;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: CircuitRules;
}

const DONE = Promise.resolve();

/** A failure of the backend as a whole says nothing about one operation. */
const endOfOperation = (outcome: 'success' | 'failure' | 'neutral'): 'success' | 'neutral' =>
  outcome === 'success' ? 'success' : 'neutral';

export function createBreakers(dependencies: BreakersDependencies): Breakers {
  const { store, channels, clock, log, rules } = dependencies;
  const from = randomToken();
  /** Only circuits with failures; all others are closed. */
  const known = new Map<string, LocalCircuit>();
  /** The number of pending calls to the store; the last result counts. */
  const awaited = new Map<string, number>();
  const running = new Set<Promise<unknown>>();
  let subscription: Subscription | undefined;
  /** Whether no other process knew the circuits when this one started. */
  let isOnlyProcess = false;

  function remember(name: string, circuit: LocalCircuit | undefined): void {
    const before = stateOf(known.get(name), clock.now());
    if (circuit === undefined) known.delete(name);
    else known.set(name, circuit);
    const after = stateOf(circuit, clock.now());
    if (before !== after) log.info({ ...subjectOf(name), circuit: after }, 'a circuit changed');
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
  function settle(
    { circuit: name, token }: Pass,
    outcome: 'success' | 'failure' | 'neutral',
  ): Promise<void> {
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

  function permit(whole: Pass, own: Pass | undefined): Permit {
    let settled: Promise<void> | undefined;
    const settleBoth = (outcome: Outcome): Promise<void> => {
      const isOfOperation = outcome === 'operation_failure';
      if (own === undefined) return settle(whole, isOfOperation ? 'failure' : outcome);
      const ofWhole = settle(whole, isOfOperation ? 'neutral' : outcome);
      const ofOwn = settle(own, isOfOperation ? 'failure' : endOfOperation(outcome));
      return ofWhole === ofOwn ? DONE : Promise.all([ofWhole, ofOwn]).then(() => undefined);
    };
    return {
      isTrial: whole.token !== undefined || own?.token !== undefined,
      settle(outcome) {
        settled ??= settleBoth(outcome);
        return settled;
      },
    };
  }

  const isClosed = (circuit: string): boolean => known.get(circuit)?.openUntil === undefined;

  /** Undefined if the circuit lets no request through. */
  async function pass(circuit: string): Promise<Pass | undefined> {
    if (isClosed(circuit)) return { circuit, token: undefined };
    const token = randomToken();
    const taken = await step(circuit, () => store.takeTrial(circuit, token, rules));
    if (taken?.trial?.token === token) {
      void track(publishChange(circuit));
      return { circuit, token };
    }
    // Another process has closed it in the meantime.
    return taken !== undefined && taken.openForMs === undefined
      ? { circuit, token: undefined }
      : undefined;
  }

  async function acquireTrials(name: string, own: string | undefined): Promise<Permit | undefined> {
    const ofWhole = await pass(name);
    if (ofWhole === undefined) return undefined;
    if (own === undefined) return permit(ofWhole, undefined);
    const ofOwn = await pass(own);
    if (ofOwn !== undefined) return permit(ofWhole, ofOwn);
    await settle(ofWhole, 'neutral');
    return undefined;
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

  const close = (circuit: string): Promise<void> =>
    change(circuit, async () => {
      await store.remove(circuit);
      return CLOSED_CIRCUIT;
    });

  function waitMs(circuit: string | undefined): number {
    const openUntil = circuit === undefined ? undefined : known.get(circuit)?.openUntil;
    return openUntil === undefined ? 0 : Math.max(0, openUntil - clock.now());
  }

  return {
    stateOf: (name, operation) =>
      stateOf(known.get(operationCircuit(name, operation) ?? name), clock.now()),
    failingOperations(name) {
      if (known.size === 0) return [];
      return circuitsOf(name).flatMap((circuit) => {
        const { operation } = subjectOf(circuit);
        const state = stateOf(known.get(circuit), clock.now());
        return operation === undefined || state === 'closed' ? [] : [{ operation, state }];
      });
    },
    permits(name, operation) {
      if (known.size === 0) return true;
      const now = clock.now();
      if (!allowsRequest(known.get(name), now)) return false;
      const own = operationCircuit(name, operation);
      return own === undefined || allowsRequest(known.get(own), now);
    },
    waitMs: (name, operation) => Math.max(waitMs(name), waitMs(operationCircuit(name, operation))),
    acquire(name, operation) {
      const own = operationCircuit(name, operation);
      if (known.size === 0 || (isClosed(name) && (own === undefined || isClosed(own)))) {
        const ofOwn = own === undefined ? undefined : { circuit: own, token: undefined };
        return permit({ circuit: name, token: undefined }, ofOwn);
      }
      return acquireTrials(name, own);
    },
    async forget(name) {
      await Promise.all(circuitsOf(name).map(close));
    },
    async refresh(names) {
      const backends = new Set(names);
      const others = [...known.keys()].filter((circuit) => !backends.has(circuit));
      await Promise.all([...names, ...others].map(read));
    },
    async load(names) {
      const circuits = names.flatMap(circuitsOf);
      await Promise.all(circuits.map(isOnlyProcess ? close : read));
    },
    async start() {
      // The circuits of a process that ended say nothing about now.
      const started: HealthMessage = { kind: 'start', from };
      const others = await channels
        .publish(HEALTH_CHANNEL, JSON.stringify(started))
        .catch((error: unknown) => {
          log.error({ error }, 'looking for other processes failed');
        });
      isOnlyProcess = others === 0;
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

/** What has a circuit: a backend, or one of its operations. */
export interface CircuitSubject {
  readonly backend: string;
  /** Undefined for the backend as a whole. */
  readonly operation: Capability | undefined;
}

/** The operations whose answered failures say nothing about the others; those of text chat count for the whole backend. */
const OPERATIONS: readonly Capability[] = CAPABILITIES.filter((one) => one !== 'chat');
/** No name contains it. */
const SEPARATOR = '\u0000';

/** The name of the circuit of an operation; undefined where only the backend as a whole has one. */
function operationCircuit(backend: string, operation: Capability | undefined): string | undefined {
  return operation === undefined || operation === 'chat'
    ? undefined
    : `${backend}${SEPARATOR}${operation}`;
}

/** The names of all circuits of a backend; that of the backend itself comes first. */
const circuitsOf = (backend: string): readonly string[] => [
  backend,
  ...OPERATIONS.map((operation) => `${backend}${SEPARATOR}${operation}`),
];

/** What a circuit is about. */
function subjectOf(circuit: string): CircuitSubject {
  const at = circuit.indexOf(SEPARATOR);
  if (at === -1) return { backend: circuit, operation: undefined };
  const named = circuit.slice(at + 1);
  return {
    backend: circuit.slice(0, at),
    operation: OPERATIONS.find((operation) => operation === named),
  };
}
