import type { Clock } from '@model-gateway/kernel';

/** The calls in flight of many users or accounts, with two amounts each. */
export interface LocalCalls {
  count(name: string): number;
  has(name: string, id: string): boolean;
  /** The sums of the amounts. */
  sums(name: string): readonly [number, number];
  /** Adding a call again extends it. A linked call of the same id ends with it. */
  add(name: string, id: string, amounts?: readonly [number, number], linked?: string): void;
  /** False when there is no such call. */
  remove(name: string, id: string): boolean;
}

interface LocalCall {
  readonly expiresAt: number;
  readonly amounts: readonly [number, number];
  readonly linked: string | undefined;
}

const NOTHING = [0, 0] as const;
const SWEEP_NAMES_MIN = 1_024;

export function createLocalCalls(clock: Clock, keptMs: number): LocalCalls {
  // Calls of one name are in the order in which they expire.
  const names = new Map<string, Map<string, LocalCall>>();
  let sweepAtSize = SWEEP_NAMES_MIN;

  function callsOf(name: string): ReadonlyMap<string, LocalCall> | undefined {
    const calls = names.get(name);
    if (calls === undefined) return undefined;
    const now = clock.now();
    for (const [id, { expiresAt }] of calls) {
      if (expiresAt > now) return calls;
      calls.delete(id);
    }
    names.delete(name);
    return undefined;
  }

  function remove(name: string, id: string): boolean {
    const calls = names.get(name);
    const call = calls?.get(id);
    if (calls === undefined || call === undefined) return false;
    calls.delete(id);
    if (calls.size === 0) names.delete(name);
    if (call.linked !== undefined) remove(call.linked, id);
    return true;
  }

  /** What no request asks for again must not stay forever. */
  function sweep(): void {
    for (const name of names.keys()) callsOf(name);
    sweepAtSize = Math.max(SWEEP_NAMES_MIN, names.size * 2);
  }

  return {
    count: (name) => callsOf(name)?.size ?? 0,
    has: (name, id) => callsOf(name)?.has(id) ?? false,
    sums(name) {
      let [first, second]: readonly [number, number] = NOTHING;
      for (const { amounts } of callsOf(name)?.values() ?? []) {
        first += amounts[0];
        second += amounts[1];
      }
      return [first, second];
    },
    add(name, id, amounts = NOTHING, linked) {
      const calls = names.get(name) ?? new Map<string, LocalCall>();
      const known = calls.get(id);
      calls.delete(id);
      const expiresAt = clock.now() + keptMs;
      calls.set(id, { expiresAt, amounts: known?.amounts ?? amounts, linked });
      names.set(name, calls);
      if (names.size >= sweepAtSize) sweep();
    },
    remove,
  };
}
