import type { Clock } from '@model-gateway/kernel';
import { outcomeOf, UpstreamFailure, type Backend, type OnKeyRefused } from '@model-gateway/router';

/** One of several keys of a backend. */
interface Key {
  /** The backend with this key. */
  readonly backend: Backend;
  /** Until when it gets no requests because the upstream refused it. */
  restsUntil: number;
}

const FORBIDDEN = 403;

/**
 * One backend of several that differ in their key. The keys are used in turn. A key that the upstream refuses, or whose rate
 * limit is reached, rests alone, and the request is sent with the next one.
 */
export function createSeveralKeys(
  first: Backend,
  others: readonly Backend[],
  clock: Clock,
): Backend {
  const keys = [first, ...others].map((backend): Key => ({ backend, restsUntil: 0 }));
  let turn = 0;

  /** All keys in turn. Keys that rest come last, and of these the one that is ready first comes first. */
  function inTurn(): readonly Key[] {
    const from = turn % keys.length;
    turn = from + 1;
    const now = clock.now();
    const rest = ({ restsUntil }: Key): number => Math.max(restsUntil, now);
    return [...keys.slice(from), ...keys.slice(0, from)].toSorted((a, b) => rest(a) - rest(b));
  }

  /** The keys that are ready, or the one that is ready first. */
  function usable(): readonly Key[] {
    const all = inTurn();
    const now = clock.now();
    const ready = all.filter(({ restsUntil }) => restsUntil <= now);
    return ready.length > 0 ? ready : all.slice(0, 1);
  }

  async function use<Answer>(
    onRefused: OnKeyRefused | undefined,
    ask: (backend: Backend) => Promise<Answer>,
    canRepeat = true,
  ): Promise<Answer> {
    const refusals: KeyRefusal[] = [];
    for (const key of usable()) {
      const startedAt = performance.now();
      try {
        return await ask(key.backend);
      } catch (failure) {
        const restMs = restAfter(failure);
        if (restMs === undefined) throw failure;
        onRefused?.(failure, startedAt);
        key.restsUntil = clock.now() + restMs;
        refusals.push({ key, failure, restMs });
        if (!canRepeat) break;
      }
    }
    // A request that is forbidden with every key is refused for itself, such as for its prompt.
    const areAllForbidden = refusals.every(({ failure }) => statusOf(failure) === FORBIDDEN);
    if (areAllForbidden) for (const { key } of refusals) key.restsUntil = 0;
    // The error of the key that is ready first, so that the backend is avoided no longer than that.
    throw refusals.toSorted((a, b) => a.restMs - b.restMs)[0]?.failure;
  }

  /** A backend is as healthy as the best of its keys. */
  async function probe(signal: AbortSignal): ReturnType<Backend['probe']> {
    const [best, ...rest] = inTurn();
    let result = await (best?.backend ?? first).probe(signal);
    for (const { backend } of rest) {
      if (result.state !== 'Degraded') return result;
      const next = await backend.probe(signal);
      if (next.state === 'Healthy') result = next;
    }
    return result;
  }

  /** The backend for all requests, or for one that wants to know which keys are refused. */
  function withMethods(onRefused?: OnKeyRefused): Backend {
    const several: Backend = {
      ...first,
      probe,
      async close() {
        await Promise.all(keys.map(({ backend }) => backend.close()));
      },
    };
    // The kinds have different methods, each of them the same with every key.
    if (first.chat !== undefined) {
      several.chat = (body, cancel) =>
        use(onRefused, (one) => one.chat?.(body, cancel) ?? unsupported());
    }
    if (first.chatStream !== undefined) {
      several.chatStream = (body, cancel) =>
        use(onRefused, (one) => one.chatStream?.(body, cancel) ?? unsupported());
    }
    if (first.embed !== undefined) {
      several.embed = (request, cancel) =>
        use(onRefused, (one) => one.embed?.(request, cancel) ?? unsupported());
    }
    if (first.pass !== undefined) {
      several.pass = (request, cancel) => {
        // A body that was read while it was sent is gone.
        const canRepeat = 'json' in request.content;
        return use(onRefused, (one) => one.pass?.(request, cancel) ?? unsupported(), canRepeat);
      };
    }
    if (first.openRealtime !== undefined) {
      several.openRealtime = (opening, cancel) =>
        use(onRefused, (one) => one.openRealtime?.(opening, cancel) ?? unsupported());
    }
    return several;
  }

  return { ...withMethods(), observed: withMethods };
}

/** A key that did not serve a request. */
interface KeyRefusal {
  readonly key: Key;
  readonly failure: unknown;
  readonly restMs: number;
}

/** How long a key rests after this; undefined if the failure is not about the key. */
function restAfter(failure: unknown): number | undefined {
  const outcome = outcomeOf(failure);
  return typeof outcome === 'string' ? undefined : outcome.forMs;
}

const statusOf = (failure: unknown): number | undefined =>
  failure instanceof UpstreamFailure ? failure.status : undefined;

const unsupported = (): Promise<never> =>
  Promise.reject(new Error('the backends of one kind have the same methods'));
