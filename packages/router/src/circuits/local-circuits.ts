import type { Clock } from '@model-gateway/kernel';
import type { Circuit, CircuitStore } from './circuit-store.ts';
import {
  afterFailure,
  afterSuccess,
  allowsRequest,
  toCircuit,
  withoutOldFailures,
  withoutTrial,
  withTrial,
  type LocalCircuit,
} from './local-circuit.ts';

/** Circuits inside one process: used without a shared store, and while that is unavailable. */
export function createLocalCircuits({ clock }: { readonly clock: Clock }): CircuitStore {
  /** Only circuits with failures. */
  const circuits = new Map<string, LocalCircuit>();

  function change(
    name: string,
    make: (circuit: LocalCircuit | undefined, now: number) => LocalCircuit | undefined,
  ): Promise<Circuit> {
    const now = clock.now();
    const circuit = make(withoutOldFailures(circuits.get(name), now), now);
    if (circuit === undefined) circuits.delete(name);
    else circuits.set(name, circuit);
    return Promise.resolve(toCircuit(circuit, now));
  }

  return {
    read: (name) => change(name, (circuit) => circuit),
    failed: (name, rules, token) =>
      change(name, (circuit, now) => afterFailure(circuit, { now, rules, token })),
    succeeded: (name, token) => change(name, (circuit) => afterSuccess(circuit, token)),
    takeTrial: (name, token, { trialMs }) =>
      change(name, (circuit, now) => {
        const isFree = circuit?.openUntil !== undefined && allowsRequest(circuit, now);
        return isFree ? withTrial(circuit, token, now + trialMs) : circuit;
      }),
    releaseTrial: (name, token) => change(name, (circuit) => withoutTrial(circuit, token)),
    remove(name) {
      circuits.delete(name);
      return Promise.resolve();
    },
  };
}
