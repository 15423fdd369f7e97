/** Which faults the coming requests meet. */
export interface FaultPlan<Fault, Operation extends string> {
  /** The next requests (one by default) of an operation meet this fault; queued faults are used up in order. */
  next(fault: Fault, times?: number, on?: Operation): void;
  /** Every request meets this fault until `clear`. */
  always(fault: Fault, on?: Operation): void;
  /** Forgets every fault. */
  clear(): void;
}

/** The server's side of a fault plan. */
export interface FaultSource<Fault, Operation extends string> extends FaultPlan<Fault, Operation> {
  /** What one request meets: the first queued fault that concerns it, and every standing one. */
  take(operation: Operation): readonly Fault[];
}

interface Planned<Fault, Operation> {
  readonly fault: Fault;
  readonly on: Operation | undefined;
  timesLeft: number;
}

/**
 * Without `on`, a fault concerns the operations named here. Listings and handshakes are best left out: a health probe that
 * happens to come first would use up a fault meant for the request under test.
 */
export function createFaultPlan<Fault, Operation extends string>(
  usually: readonly Operation[],
): FaultSource<Fault, Operation> {
  const queued: Planned<Fault, Operation>[] = [];
  const standing: Planned<Fault, Operation>[] = [];
  const concerns = (planned: Planned<Fault, Operation>, operation: Operation): boolean =>
    planned.on === undefined ? usually.includes(operation) : planned.on === operation;

  return {
    next: (fault, times = 1, on) => {
      queued.push({ fault, on, timesLeft: times });
    },
    always: (fault, on) => {
      standing.push({ fault, on, timesLeft: Number.POSITIVE_INFINITY });
    },
    clear() {
      queued.length = 0;
      standing.length = 0;
    },
    take(operation) {
      const met = standing.filter((planned) => concerns(planned, operation));
      const index = queued.findIndex((planned) => concerns(planned, operation));
      const first = queued[index];
      if (first !== undefined) {
        first.timesLeft -= 1;
        if (first.timesLeft <= 0) queued.splice(index, 1);
        met.unshift(first);
      }
      return met.map((planned) => planned.fault);
    },
  };
}

/** The fault of one kind among those that a request meets. */
export function faultOf<Fault extends { readonly kind: string }, Kind extends Fault['kind']>(
  faults: readonly Fault[],
  kind: Kind,
): Extract<Fault, { readonly kind: Kind }> | undefined {
  return faults.find(
    (fault): fault is Extract<Fault, { readonly kind: Kind }> => fault.kind === kind,
  );
}
