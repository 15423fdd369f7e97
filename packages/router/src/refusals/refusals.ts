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

/** What upstreams refuse for a while, the same on every replica. Questions are answered from memory. */
export interface Refusals {
  /** Whether there is nothing: the usual case. */
  isEmpty(): boolean;
  /** How long a model still cools on a backend; 0 if it does not. */
  coolingMs(name: string, model: string): number;
  /** Why the key of a backend may be refused; undefined if nothing says so. */
  keyRefusal(name: string): string | undefined;
  /** Whether the key of a backend was refused, and not only one request, so that others are sent elsewhere. */
  isKeyRefused(name: string): boolean;
  /** Resolves when the other replicas are notified; never rejects. */
  add(name: string, refusal: Refusal): Promise<void>;
  /** A backend served a request, so its key is accepted. */
  keyAccepted(name: string): void;
  /** Forgets everything about a backend that was registered again or removed. */
  forget(name: string): Promise<void>;
  /** Forgets a backend that was removed on another replica. */
  drop(name: string): void;
  /** Reads what other replicas know, at the start or after messages may have been missed. */
  load(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Something that an upstream refuses. */
export interface Refusal {
  /** The model that cools after a rate limit; undefined if the key of the backend was refused. */
  readonly model: string | undefined;
  readonly reason: string;
  readonly forMs: number;
  /** Whether it is only reported: it may be about a single request. */
  readonly isSuspicion?: boolean | undefined;
}

interface RefusalsDependencies {
  readonly channels: Channels;
  readonly entries: Entries;
  readonly clock: Clock;
  readonly log: Log;
}

/** One refusal, in the time of the local clock. */
interface Held {
  readonly reason: string;
  readonly until: number;
  readonly isSuspicion?: boolean | undefined;
}

const CHANNEL = 'refusals';
/** The subject of a refusal that is about the key, which no model id can be. */
const KEY = '';
/** So that a wrong clock cannot make a refusal last. */
const REFUSED_MS_MAX = 10 * 60 * 1000;

const messageSchema = z.object({
  from: z.string(),
  name: z.string(),
  /** Null means all of the backend. */
  subject: z.string().nullable(),
  reason: z.string(),
  /** 0 ends a refusal. */
  forMs: z.number().nonnegative(),
  isSuspicion: z.boolean().optional(),
});
type Change = Omit<z.infer<typeof messageSchema>, 'from'>;

/** For processes that start. */
const entrySchema = z.array(
  z.object({
    subject: z.string(),
    reason: z.string(),
    until: z.number(),
    isSuspicion: z.boolean().optional(),
  }),
);

const entryKey = (name: string): string => `refusals:${name}`;

export function createRefusals({ channels, entries, clock, log }: RefusalsDependencies): Refusals {
  const from = randomToken();
  /** By backend and subject: a model id or the key. A backend without refusals is absent. */
  const known = new Map<string, Map<string, Held>>();
  let subscription: Subscription | undefined;

  function heldOf(name: string, subject: string): Held | undefined {
    const held = known.get(name)?.get(subject);
    if (held === undefined || held.until > clock.now()) return held;
    end(name, subject);
    return undefined;
  }

  function end(name: string, subject: string): void {
    const subjects = known.get(name);
    subjects?.delete(subject);
    if (subjects?.size === 0) known.delete(name);
  }

  /** The longer of two refusals of the same subject holds, and one that is certain before a suspicion. */
  function apply({ name, subject, reason, forMs, isSuspicion }: Change): void {
    if (subject === null) return void known.delete(name);
    if (forMs === 0) return end(name, subject);
    const until = clock.now() + Math.min(forMs, REFUSED_MS_MAX);
    const subjects = known.get(name) ?? new Map<string, Held>();
    const held = subjects.get(subject);
    const isAsCertain = held?.isSuspicion !== true || isSuspicion === true;
    if (held !== undefined && held.until >= until && isAsCertain) return;
    if (held !== undefined && held.isSuspicion !== true && isSuspicion === true) return;
    known.set(name, subjects.set(subject, { reason, until, isSuspicion }));
    log.info(
      { backend: name, model: subject || undefined, reason, ms: forMs },
      'an upstream refuses requests for a while',
    );
  }

  async function save(name: string): Promise<void> {
    const now = clock.now();
    const all = [...(known.get(name) ?? [])].map(([subject, held]) => ({ subject, ...held }));
    const left = all.filter(({ until }) => until > now);
    if (left.length === 0) return entries.remove(entryKey(name));
    const lastMs = Math.ceil(Math.max(...left.map(({ until }) => until)) - now);
    await entries.put(entryKey(name), JSON.stringify(left), { expiresAfterMs: lastMs });
  }

  /** This process knows a change at once, the others a moment later. */
  async function change(made: Change): Promise<void> {
    apply(made);
    try {
      const message = JSON.stringify({ from, ...made });
      await Promise.all([save(made.name), channels.publish(CHANNEL, message)]);
    } catch (error) {
      log.warn({ error, backend: made.name }, 'sharing what an upstream refuses failed');
    }
  }

  async function load(name: string): Promise<void> {
    const text = await entries.get(entryKey(name)).catch(() => undefined);
    const stored = text === undefined ? undefined : tryParse(entrySchema, text);
    for (const { until, ...refusal } of stored ?? []) {
      const forMs = until - clock.now();
      if (forMs > 0) apply({ name, ...refusal, forMs });
    }
  }

  return {
    isEmpty: () => known.size === 0,
    coolingMs(name, model) {
      const held = heldOf(name, model);
      return held === undefined ? 0 : held.until - clock.now();
    },
    keyRefusal: (name) => heldOf(name, KEY)?.reason,
    isKeyRefused(name) {
      const held = heldOf(name, KEY);
      return held !== undefined && held.isSuspicion !== true;
    },
    add: (name, { model = KEY, ...refusal }) => change({ name, subject: model, ...refusal }),
    keyAccepted(name) {
      if (known.size === 0 || heldOf(name, KEY) === undefined) return;
      void change({ name, subject: KEY, reason: 'a request succeeded', forMs: 0 });
    },
    async forget(name) {
      await change({ name, subject: null, reason: 'registered again or removed', forMs: 0 });
    },
    drop: (name) => void known.delete(name),
    async load(names) {
      await Promise.all(names.map(load));
    },
    async start() {
      subscription = await channels.subscribe(CHANNEL, (text) => {
        const message = tryParse(messageSchema, text);
        if (message !== undefined && message.from !== from) apply(message);
      });
    },
    async stop() {
      await subscription?.close();
    },
  };
}
