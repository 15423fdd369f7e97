import {
  CLOSED_CIRCUIT,
  type Circuit,
  type CircuitRules,
  type CircuitState,
} from './circuit-store.ts';

/** A circuit with failures, in times of the local clock. A circuit without failures is undefined. */
export interface LocalCircuit {
  readonly failures: number;
  /** When the failures of a closed circuit are forgotten; undefined while it is not closed. */
  readonly forgetAt: number | undefined;
  /** Undefined while it is closed. */
  readonly openUntil: number | undefined;
  readonly trial: { readonly token: string; readonly until: number } | undefined;
}

type MaybeCircuit = LocalCircuit | undefined;

export function fromCircuit(
  { failures, forgottenInMs, openForMs, trial }: Circuit,
  now: number,
): MaybeCircuit {
  if (failures === 0) return undefined;
  return {
    failures,
    forgetAt: forgottenInMs === undefined ? undefined : now + forgottenInMs,
    openUntil: openForMs === undefined ? undefined : now + openForMs,
    trial: trial && { token: trial.token, until: now + trial.forMs },
  };
}

export function toCircuit(circuit: MaybeCircuit, now: number): Circuit {
  if (circuit === undefined) return CLOSED_CIRCUIT;
  const { failures, forgetAt, openUntil, trial } = circuit;
  return {
    failures,
    forgottenInMs: forgetAt === undefined ? undefined : Math.max(0, forgetAt - now),
    openForMs: openUntil === undefined ? undefined : Math.max(0, openUntil - now),
    trial: trial && { token: trial.token, forMs: Math.max(0, trial.until - now) },
  };
}

/** The circuit without failures that are too old to count. */
export function withoutOldFailures(circuit: MaybeCircuit, now: number): MaybeCircuit {
  return circuit?.forgetAt !== undefined && circuit.forgetAt <= now ? undefined : circuit;
}

export function stateOf(circuit: MaybeCircuit, now: number): CircuitState {
  if (circuit?.openUntil === undefined) return 'closed';
  return circuit.openUntil > now ? 'open' : 'half-open';
}

/** Whether a request may be sent: through a half-open circuit only while there is no other trial. */
export function allowsRequest(circuit: MaybeCircuit, now: number): boolean {
  if (circuit?.openUntil === undefined) return true;
  return circuit.openUntil <= now && (circuit.trial === undefined || circuit.trial.until <= now);
}

/** Whether both mean the same to another process. */
export function isSameCircuit(left: MaybeCircuit, right: MaybeCircuit, now: number): boolean {
  return (
    left?.failures === right?.failures &&
    left?.trial?.token === right?.trial?.token &&
    stateOf(left, now) === stateOf(right, now)
  );
}

interface FailureOptions {
  readonly now: number;
  readonly rules: CircuitRules;
  readonly token: string | undefined;
}

/** The circuit after a failed request. One that began before the circuit opened changes nothing. */
export function afterFailure(
  circuit: MaybeCircuit,
  { now, rules, token }: FailureOptions,
): LocalCircuit {
  const opened = { forgetAt: undefined, openUntil: now + rules.openMs, trial: undefined };
  if (circuit?.openUntil !== undefined) {
    return isTrial(circuit, token) ? { ...circuit, ...opened } : circuit;
  }
  const failures = (withoutOldFailures(circuit, now)?.failures ?? 0) + 1;
  if (failures >= rules.failuresMax) return { failures, ...opened };
  return { failures, forgetAt: now + rules.openMs, openUntil: undefined, trial: undefined };
}

/** The circuit after a successful request. */
export function afterSuccess(circuit: MaybeCircuit, token: string | undefined): MaybeCircuit {
  return circuit?.openUntil === undefined || isTrial(circuit, token) ? undefined : circuit;
}

export function withTrial(circuit: MaybeCircuit, token: string, until: number): MaybeCircuit {
  return circuit && { ...circuit, trial: { token, until } };
}

export function withoutTrial(circuit: MaybeCircuit, token: string): MaybeCircuit {
  return circuit && isTrial(circuit, token) ? { ...circuit, trial: undefined } : circuit;
}

const isTrial = (circuit: LocalCircuit, token: string | undefined): boolean =>
  token !== undefined && circuit.trial?.token === token;
