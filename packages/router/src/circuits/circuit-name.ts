import { CAPABILITIES, type Capability } from '../registry/backend.ts';

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
export function operationCircuit(
  backend: string,
  operation: Capability | undefined,
): string | undefined {
  return operation === undefined || operation === 'chat'
    ? undefined
    : `${backend}${SEPARATOR}${operation}`;
}

/** The names of all circuits of a backend; that of the backend itself comes first. */
export const circuitsOf = (backend: string): readonly string[] => [
  backend,
  ...OPERATIONS.map((operation) => `${backend}${SEPARATOR}${operation}`),
];

/** What a circuit is about. */
export function subjectOf(circuit: string): CircuitSubject {
  const at = circuit.indexOf(SEPARATOR);
  if (at === -1) return { backend: circuit, operation: undefined };
  const named = circuit.slice(at + 1);
  return {
    backend: circuit.slice(0, at),
    operation: OPERATIONS.find((operation) => operation === named),
  };
}
