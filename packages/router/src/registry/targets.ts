import { isForbidden, type Refused } from '../refusals/outcome.ts';
import type { Backend } from './backend.ts';

/** What a request is sent to: a backend with one of its upstream keys. */
export interface Target {
  /** The backend with this key. */
  readonly backend: Backend;
  /** The last refusal of its key. Until it ends, the key rests while another one is ready. */
  refusal: { readonly outcome: Refused; readonly until: number } | undefined;
}

/** The targets of one backend, one for each key. Which of them rest is known to this process alone. */
export interface Targets {
  /** Those for the next request: the ready ones in turn, or else the one that is ready first. */
  inTurn(now: number): readonly [Target, ...Target[]];
  /**
   * What the backend as a whole refuses after the keys of these targets were refused, the last one with this; undefined while
   * another key is ready.
   */
  refusalOf(refused: readonly Target[], last: Refused, now: number): Refused | undefined;
}

export function createTargets(backend: Backend): Targets {
  let keys: readonly Backend[] | undefined;
  const only: Target = { backend, refusal: undefined };
  let targets: readonly Target[] = [only];
  let turn = 0;

  function all(): readonly Target[] {
    // A backend behind the bridge is built again when its tunnel moves.
    if (backend.keys !== keys) {
      ({ keys } = backend);
      targets = keys?.map((one) => ({ backend: one, refusal: undefined })) ?? [only];
    }
    return targets;
  }

  return {
    inTurn(now) {
      const known = all();
      if (known.length === 1) return [known[0] ?? only];
      const from = turn % known.length;
      turn = from + 1;
      const order = [...known.slice(from), ...known.slice(0, from)];
      const ready = order.filter((one) => restMs(one, now) === 0);
      const [next = readyFirst(order, now) ?? only, ...others] = ready;
      return [next, ...others];
    },
    refusalOf(refused, last, now) {
      // A request that is forbidden with every key is refused for itself, such as for its prompt.
      if (refused.every(({ refusal }) => refusal !== undefined && isForbidden(refusal.outcome))) {
        for (const one of refused) one.refusal = undefined;
        return last;
      }
      // The backend is avoided no longer than until its first key is ready.
      const first = readyFirst(all(), now);
      if (first?.refusal === undefined || restMs(first, now) === 0) return undefined;
      return { ...first.refusal.outcome, forMs: restMs(first, now) };
    },
  };
}

const restMs = ({ refusal }: Target, now: number): number =>
  refusal === undefined ? 0 : Math.max(0, refusal.until - now);

export const readyFirst = (targets: readonly Target[], now: number): Target | undefined =>
  targets.toSorted((one, other) => restMs(one, now) - restMs(other, now))[0];
