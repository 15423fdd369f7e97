/** The planned faults of the next requests. */
export interface FaultPlan<Fault, Operation extends string> {
  /** Applies a fault to the next requests (one by default) of an operation; queued faults are used in order. */
  next(fault: Fault, times?: number, on?: Operation): void;
  /** Applies a fault to every request until `clear`. */
  always(fault: Fault, on?: Operation): void;
  /** Removes all faults. */
  clear(): void;
}

/** The server's side of a fault plan. */
export interface FaultSource<Fault, Operation extends string> extends FaultPlan<Fault, Operation> {
  /** The faults of one request: the first queued fault that applies to it, and every permanent one. */
  take(operation: Operation): readonly Fault[];
}

interface Planned<Fault, Operation> {
  readonly fault: Fault;
  readonly on: Operation | undefined;
  timesLeft: number;
}

/**
 * Without `on`, a fault applies to the default operations. These should not include lists and handshakes: a health probe could
 * use a fault that is meant for the request under test.
 */
export function createFaultPlan<Fault, Operation extends string>(
  defaultOperations: readonly Operation[],
): FaultSource<Fault, Operation> {
  const queued: Planned<Fault, Operation>[] = [];
  const permanent: Planned<Fault, Operation>[] = [];
  const appliesTo = (planned: Planned<Fault, Operation>, operation: Operation): boolean =>
    planned.on === undefined ? defaultOperations.includes(operation) : planned.on === operation;

  return {
    next: (fault, times = 1, on) => {
      queued.push({ fault, on, timesLeft: times });
    },
    always: (fault, on) => {
      permanent.push({ fault, on, timesLeft: Number.POSITIVE_INFINITY });
    },
    clear() {
      queued.length = 0;
      permanent.length = 0;
    },
    take(operation) {
      const currentFaults = permanent.filter((planned) => appliesTo(planned, operation));
      const index = queued.findIndex((planned) => appliesTo(planned, operation));
      const first = queued[index];
      if (first !== undefined) {
        first.timesLeft -= 1;
        if (first.timesLeft <= 0) queued.splice(index, 1);
        currentFaults.unshift(first);
      }
      return currentFaults.map((planned) => planned.fault);
    },
  };
}

/** The fault of one kind among the faults of a request. */
export function faultOf<Fault extends { readonly kind: string }, Kind extends Fault['kind']>(
  faults: readonly Fault[],
  kind: Kind,
): Extract<Fault, { readonly kind: Kind }> | undefined {
  return faults.find(
    (fault): fault is Extract<Fault, { readonly kind: Kind }> => fault.kind === kind,
  );
}
