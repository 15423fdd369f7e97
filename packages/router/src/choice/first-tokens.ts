import {
  randomToken,
  tryParse,
  type Channels,
  type Clock,
  type Entries,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import { z } from 'zod';

/** Whole answers take longer than first tokens, so that they are compared only with each other. */
export const ANSWER_KINDS = ['streamed', 'whole'] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

/**
 * How long each backend takes until the first token of a model: the median of its last requests, in this process and, a moment
 * later, in the other replicas. Only routes that ask for it are measured. Questions are answered from memory.
 */
export interface FirstTokens {
  /** The median time until the first token, or until a whole answer; undefined where nothing was measured. */
  medianMs(name: string, model: string, kind: AnswerKind): number | undefined;
  /** Notes the time of one request, in milliseconds. */
  add(name: string, model: string, kind: AnswerKind, ms: number): void;
  /** Forgets a backend that was registered again or removed. */
  forget(name: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface FirstTokensDependencies {
  readonly channels: Channels;
  readonly entries: Entries;
  readonly clock: Clock;
  readonly log: Log;
  readonly shareEveryMs?: number;
}

/** Enough that one slow request changes nothing, and few enough that a change is seen soon. */
const SAMPLES_MAX = 15;
const SHARE_EVERY_MS = 500;
/** After this time without a new measurement a target counts as not measured, so that old times decide nothing. */
const MEASURED_FOR_MS = 60 * 60 * 1_000;
const TARGETS_MAX = 2_000;
const CHANNEL = 'first-tokens';
const ENTRY = 'first-tokens';

const sample = z.object({
  name: z.string(),
  model: z.string(),
  kind: z.enum(ANSWER_KINDS),
  ms: z.array(z.number().min(0)),
  /** When the last of them was measured, in milliseconds since 1970; without it, now. */
  at: z.number().optional(),
});
const messageSchema = z.object({ from: z.string(), samples: z.array(sample) });
const entrySchema = z.array(sample);
type Sample = z.infer<typeof sample>;

/** The last times of one backend, model and kind of answer, the newest at the end. */
interface Times extends Sample {
  readonly median: number;
  readonly at: number;
}

export function createFirstTokens(dependencies: FirstTokensDependencies): FirstTokens {
  const { channels, entries, clock, log, shareEveryMs = SHARE_EVERY_MS } = dependencies;
  const from = randomToken();
  const known = new Map<string, Times>();
  let unshared: Sample[] = [];
  let timer: NodeJS.Timeout | undefined;
  let subscription: Subscription | undefined;

  const keyOf = (name: string, model: string, kind: AnswerKind): string =>
    JSON.stringify([name, model, kind]);

  const isRecent = ({ at }: Pick<Times, 'at'>): boolean => at + MEASURED_FOR_MS > clock.now();

  function recent(name: string, model: string, kind: AnswerKind): Times | undefined {
    const times = known.get(keyOf(name, model, kind));
    return times !== undefined && isRecent(times) ? times : undefined;
  }

  function note({ name, model, kind, ms: added, at = clock.now() }: Sample): void {
    if (known.size >= TARGETS_MAX) forgetOld();
    const key = keyOf(name, model, kind);
    if (!known.has(key) && known.size >= TARGETS_MAX) return;
    const ms = [...(recent(name, model, kind)?.ms ?? []), ...added].slice(-SAMPLES_MAX);
    if (ms.length > 0) known.set(key, { name, model, kind, ms, at, median: medianOf(ms) });
  }

  function forgetOld(): void {
    for (const [key, times] of known) if (!isRecent(times)) known.delete(key);
  }

  /** Tells the other processes what is new, and keeps all of it for those that start later. */
  async function share(): Promise<void> {
    timer = undefined;
    const message = JSON.stringify({ from, samples: unshared });
    unshared = [];
    forgetOld();
    const all = [...known.values()].map(({ median: _median, ...times }) => times);
    try {
      await Promise.all([
        channels.publish(CHANNEL, message),
        entries.put(ENTRY, JSON.stringify(all), { expiresAfterMs: MEASURED_FOR_MS }),
      ]);
    } catch (error) {
      log.warn({ error }, 'sharing the times of backends failed');
    }
  }

  return {
    medianMs: (name, model, kind) => recent(name, model, kind)?.median,
    add(name, model, kind, ms) {
      const rounded = { name, model, kind, ms: [Math.round(ms)] };
      note(rounded);
      unshared.push(rounded);
      timer ??= setTimeout(() => void share(), shareEveryMs).unref();
    },
    forget(name) {
      for (const [key, times] of known) if (times.name === name) known.delete(key);
    },
    async start() {
      subscription = await channels.subscribe(CHANNEL, (text) => {
        const message = tryParse(messageSchema, text);
        if (message === undefined || message.from === from) return;
        for (const one of message.samples) note(one);
      });
      const stored = await entries.get(ENTRY).catch(() => undefined);
      for (const one of (stored && tryParse(entrySchema, stored)) || []) note(one);
    },
    async stop() {
      clearTimeout(timer);
      await subscription?.close();
    },
  };
}

const medianOf = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
