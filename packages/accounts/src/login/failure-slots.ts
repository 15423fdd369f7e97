import type { Clock, Counters } from '@model-gateway/kernel';

/** An account or an address whose failures are counted together. */
export interface Subject {
  /** Part of a key in a shared store, so it must not contain personal data. */
  readonly name: string;
  readonly failuresMax: number;
}

/** An attempt takes a slot until it succeeds; a failed one keeps it as long as the failure counts. */
export interface FailureSlot {
  readonly subject: Subject;
  readonly key: string;
}

/** The result of taking a slot. `undecided`: every slot is taken, but not all of these attempts have failed yet. */
export type Admission =
  | { readonly kind: 'admitted'; readonly slot: FailureSlot }
  | { readonly kind: 'locked'; readonly untilMs: number }
  | { readonly kind: 'undecided' };

/** Counts failures in a sliding window: each subject has a slot per allowed failure, and a failure keeps its slot. */
export interface FailureSlots {
  take(subject: Subject): Promise<Admission>;
  release(slot: FailureSlot): Promise<void>;
  /** The attempt failed: if no slot is left, the subject is locked. */
  keep(slot: FailureSlot): Promise<void>;
  /** Deletes all failures of the subject. */
  clear(subject: Subject): Promise<void>;
}

interface FailureSlotsOptions {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly windowMs: number;
  readonly lockMs: number;
}

/**
 * A slot is a counter: the attempt that raises it to 1 has the slot, also with concurrent attempts in several processes. A
 * lock is a counter whose value is the time of its end.
 */
export function createFailureSlots(options: FailureSlotsOptions): FailureSlots {
  const { counters, clock, windowMs, lockMs } = options;

  async function lock(subject: Subject): Promise<void> {
    const untilMs = clock.now() + lockMs;
    const value = await counters.add(lockKey(subject), untilMs, { expiresAfterMs: lockMs });
    // Another failure locked it a moment earlier, and the sum of two end times would be wrong.
    if (value > untilMs) {
      await counters.add(lockKey(subject), -untilMs, { expiresAfterMs: lockMs });
    }
  }

  return {
    async take(subject) {
      const keys = slotKeys(subject);
      const [untilMs = 0, ...taken] = await counters.read([lockKey(subject), ...keys]);
      const now = clock.now();
      if (untilMs > now) return { kind: 'locked', untilMs: Math.min(untilMs, now + lockMs) };
      for (const [index, key] of keys.entries()) {
        if ((taken[index] ?? 0) > 0) continue;
        if ((await counters.add(key, 1, { expiresAfterMs: windowMs })) === 1) {
          return { kind: 'admitted', slot: { subject, key } };
        }
      }
      return { kind: 'undecided' };
    },
    release: ({ key }) => counters.remove(key),
    async keep({ subject }) {
      const taken = await counters.read(slotKeys(subject));
      if (taken.every((value) => value > 0)) await lock(subject);
    },
    async clear(subject) {
      const keys = [lockKey(subject), ...slotKeys(subject)];
      await Promise.all(keys.map((key) => counters.remove(key)));
    },
  };
}

const lockKey = ({ name }: Subject): string => `login:${name}:lock`;

function slotKeys({ name, failuresMax }: Subject): readonly string[] {
  return Array.from({ length: failuresMax }, (_, index) => `login:${name}:failure:${index}`);
}
