import type { Clock } from '@model-gateway/kernel';
import type { BackendLimits, LimitName } from './backend-limits.ts';
import { PLACE_KEPT_MS, type LimitStore } from './limit-store.ts';

/** What one backend was sent. */
interface Sent {
  /** When each place expires, by its id. */
  readonly places: Map<string, number>;
  /** Requests and tokens by second. */
  readonly seconds: Map<number, { requests: number; tokens: number }>;
  day: number;
  dayTokens: number;
}

const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
/** One more than a minute has, because the first second is over only in part. */
const SECONDS_COUNTED = 61;

/** Limits inside one process: used without a shared store, and while that is unavailable. */
export function createLocalLimits({ clock }: { readonly clock: Clock }): LimitStore {
  const sent = new Map<string, Sent>();

  /** What the backend was sent, without what no longer counts. */
  function current(name: string): Sent {
    const now = clock.now();
    const day = Math.floor(now / DAY_MS);
    const known = sent.get(name) ?? nothingSent(day);
    sent.set(name, known);
    for (const [id, until] of known.places) if (until <= now) known.places.delete(id);
    const first = Math.floor(now / SECOND_MS) - SECONDS_COUNTED;
    for (const second of known.seconds.keys()) if (second <= first) known.seconds.delete(second);
    if (known.day !== day) Object.assign(known, { day, dayTokens: 0 });
    return known;
  }

  function add(name: string, by: { readonly requests: number; readonly tokens: number }): void {
    const { seconds } = current(name);
    const second = Math.floor(clock.now() / SECOND_MS);
    const { requests, tokens } = seconds.get(second) ?? { requests: 0, tokens: 0 };
    seconds.set(second, { requests: requests + by.requests, tokens: tokens + by.tokens });
  }

  const reached = (name: string, limits: BackendLimits): LimitName | undefined =>
    limitReached(current(name), limits);

  return {
    async take({ name, id }, limits) {
      const limit = reached(name, limits);
      if (limit !== undefined) return limit;
      if (limits.concurrency !== undefined) {
        current(name).places.set(id, clock.now() + PLACE_KEPT_MS);
      }
      add(name, { requests: 1, tokens: 0 });
      return undefined;
    },
    reached: (name, limits) => Promise.resolve(reached(name, limits)),
    async keep(places) {
      const until = clock.now() + PLACE_KEPT_MS;
      for (const { name, id } of places) current(name).places.set(id, until);
      return Promise.resolve();
    },
    release: ({ name, id }) => Promise.resolve(void sent.get(name)?.places.delete(id)),
    async addTokens(name, tokens) {
      add(name, { requests: 0, tokens });
      current(name).dayTokens += tokens;
      return Promise.resolve();
    },
  };
}

const nothingSent = (day: number): Sent => ({
  places: new Map(),
  seconds: new Map(),
  day,
  dayTokens: 0,
});

function limitReached(
  { places, seconds, dayTokens }: Sent,
  {
    concurrency = Infinity,
    rpm = Infinity,
    tpm = Infinity,
    tokensPerDay = Infinity,
  }: BackendLimits,
): LimitName | undefined {
  let [requests, tokens] = [0, 0];
  for (const second of seconds.values()) {
    requests += second.requests;
    tokens += second.tokens;
  }
  if (places.size >= concurrency) return 'concurrency';
  if (requests >= rpm) return 'rpm';
  if (tokens >= tpm) return 'tpm';
  return dayTokens >= tokensPerDay ? 'tokensPerDay' : undefined;
}
