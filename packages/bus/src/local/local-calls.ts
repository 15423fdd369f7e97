import type { Clock } from '@model-gateway/kernel';

/** The calls of many users or accounts, with two amounts each: whole numbers, so that their sums are exact. */
export interface LocalCalls {
  count(name: string): number;
  has(name: string, id: string): boolean;
  /** The sums of the amounts, those of one call left out. */
  sums(name: string, exceptId?: string): Amounts;
  /** Adding a call again extends it, with the larger amounts. A linked call of the same id ends with it. */
  add(name: string, id: string, amounts?: Amounts, linked?: string): void;
  /** Extends a call with those that are linked, if there is one. */
  renew(name: string, id: string): void;
  /** The name of the linked call, or an empty one; undefined when there is no such call. */
  remove(name: string, id: string): string | undefined;
}

type Amounts = readonly [number, number];

interface LocalCall {
  readonly expiresAt: number;
  readonly amounts: Amounts;
  readonly linked: string;
}

interface NamedCalls {
  /** In the order in which they expire. */
  readonly calls: Map<string, LocalCall>;
  sums: Amounts;
}

const NOTHING: Amounts = [0, 0];

const sumOf = (sums: Amounts, amounts: Amounts, sign: 1 | -1): Amounts => [
  Math.max(0, sums[0] + sign * amounts[0]),
  Math.max(0, sums[1] + sign * amounts[1]),
];

const SWEEP_NAMES_MIN = 1_024;

export function createLocalCalls(clock: Clock, keptMs: number): LocalCalls {
  const names = new Map<string, NamedCalls>();
  let sweepAtSize = SWEEP_NAMES_MIN;

  function drop(name: string, named: NamedCalls, id: string, { amounts }: LocalCall): void {
    named.calls.delete(id);
    named.sums = sumOf(named.sums, amounts, -1);
    if (named.calls.size === 0) names.delete(name);
  }

  function callsOf(name: string): NamedCalls | undefined {
    const named = names.get(name);
    if (named === undefined) return undefined;
    const now = clock.now();
    for (const [id, call] of named.calls) {
      if (call.expiresAt > now) return named;
      drop(name, named, id, call);
    }
    return undefined;
  }

  function remove(name: string, id: string): string | undefined {
    if (names.size === 0) return undefined;
    const named = names.get(name);
    const call = named?.calls.get(id);
    if (named === undefined || call === undefined) return undefined;
    drop(name, named, id, call);
    if (call.linked !== '') remove(call.linked, id);
    return call.linked;
  }

  function renew(name: string, id: string): void {
    const calls = callsOf(name)?.calls;
    const call = calls?.get(id);
    if (calls === undefined || call === undefined) return;
    calls.delete(id);
    calls.set(id, { ...call, expiresAt: clock.now() + keptMs });
    if (call.linked !== '') renew(call.linked, id);
  }

  /** Removes the expired calls of all names, because no request may ask for a name again. */
  function sweep(): void {
    for (const name of names.keys()) callsOf(name);
    sweepAtSize = Math.max(SWEEP_NAMES_MIN, names.size * 2);
  }

  return {
    count: (name) => callsOf(name)?.calls.size ?? 0,
    has: (name, id) => callsOf(name)?.calls.has(id) ?? false,
    sums(name, exceptId) {
      const named = callsOf(name);
      if (named === undefined) return NOTHING;
      const left = exceptId === undefined ? undefined : named.calls.get(exceptId);
      return left === undefined ? named.sums : sumOf(named.sums, left.amounts, -1);
    },
    add(name, id, amounts = NOTHING, linked = '') {
      const named = names.get(name) ?? { calls: new Map<string, LocalCall>(), sums: NOTHING };
      const known = named.calls.get(id)?.amounts ?? NOTHING;
      const kept = [Math.max(known[0], amounts[0]), Math.max(known[1], amounts[1])] as const;
      named.sums = sumOf(sumOf(named.sums, known, -1), kept, 1);
      named.calls.delete(id);
      named.calls.set(id, { expiresAt: clock.now() + keptMs, amounts: kept, linked });
      names.set(name, named);
      if (names.size >= sweepAtSize) sweep();
    },
    renew,
    remove,
  };
}
