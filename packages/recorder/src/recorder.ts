import { setTimeout as delay } from 'node:timers/promises';
import {
  UsageRejectedError,
  type AdmissionFacts,
  type AdmissionStore,
  type RejectedUsageStore,
  type SettledReservation,
  type UsageStore,
} from '@model-gateway/billing';
import {
  requestNotice,
  REQUESTS_CHANNEL,
  ServiceError,
  type FailedRequest,
  type UsageEvent,
} from '@model-gateway/contracts';
import {
  describeError,
  withTimeout,
  type Journal,
  type JournalEntry,
  type Log,
  type Channels,
  type Metrics,
  type Part,
} from '@model-gateway/kernel';
import { createHalts } from './halts.ts';
import { createPointsCount } from './points-count.ts';
import { readEntry, type EntryContent } from './rejection.ts';

interface RecorderDependencies {
  readonly journal: Journal;
  readonly usage: Pick<UsageStore, 'record'>;
  readonly rejectedUsage: Pick<RejectedUsageStore, 'add' | 'count' | 'halt' | 'halting' | 'take'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  /** Where requests that were recorded are announced. */
  readonly channels?: Pick<Channels, 'publish'>;
  /** Reports an event that stops the recorder, perhaps several times. */
  readonly onHalted: (halted: { readonly id: string; readonly error: string }) => Promise<unknown>;
  readonly pointsPerUsd: number;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly haltedRetryMs?: number;
}

/** A journal entry that was understood. */
interface Received {
  readonly entry: JournalEntry;
  readonly content: EntryContent;
}

/** Under load, this many events share the fixed cost of a transaction and the lines of the kept sums. */
const BATCH_SIZE = 8_000;
/** The smallest part of a batch: if that fails, the reason is not its size but an unavailable store. */
const PART_SIZE_MIN = 50;
/** How many events larger the next part is after one that was recorded. */
const PART_SIZE_STEP = 100;
/** How often a batch fails as a whole before it is split. */
const ATTEMPTS_BEFORE_SPLIT = 3;
/** How often an event fails alone, for no reason that its values have, before the recorder halts. */
const ATTEMPTS_BEFORE_HALT = 3;
const ALONE_RETRY_MS = 250;
const HALTED_RETRY_MS = 30_000;
const COUNT_TIMEOUT_MS = 1_000;
const UNPUBLISHED_MAX = 10_000;

/**
 * Drains the usage journal into the database: each event is settled and written once, and so is each failed request.
 *
 * The journal gathers a batch. It is recorded in parts of `partSize`, which shrink while the store fails. A batch that fails
 * again and again for another reason is taken apart by halves, until the event that is the reason stands alone.
 */
export function createRecorder(dependencies: RecorderDependencies): Part {
  const { journal, usage, rejectedUsage, admission, pointsPerUsd, metrics, log } = dependencies;
  const { onHalted, haltedRetryMs: retryMs = HALTED_RETRY_MS } = dependencies;
  let failedAttempts = 0;
  let unpublished: readonly SettledReservation[] = [];
  /** How many events are recorded at a time: half as many after a failure of the store, which may have been too slow for them. */
  let partSize = BATCH_SIZE;
  /** The entries of the batch in hand that are recorded. */
  const finished = new Set<string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const halts = createHalts({ rejectedUsage, onHalted, metrics, log, signal, retryMs });
  let drained: Promise<void> = Promise.resolve();
  const recorded = metrics
    .counter({ name: 'service_usage_recorded_total', help: 'Usage rows written.' })
    .series({});

  const paid = createPointsCount(metrics);
  const rejected = metrics
    .counter({
      name: 'service_usage_rejected_total',
      help: 'Usage events that could not be stored and were set aside.',
    })
    .series({});
  metrics.gauge({
    name: 'service_usage_rejected_waiting',
    help: 'Usage events that were set aside and wait for an operator. NaN during an outage of Postgres.',
    async collect(gauge) {
      const count = withTimeout(rejectedUsage.count(), COUNT_TIMEOUT_MS);
      gauge.set(await count.catch(() => Number.NaN));
    },
  });

  /** Rejects when the journal has to deliver the batch again, because of the store and not of an event. */
  async function record(batch: readonly JournalEntry[]): Promise<void> {
    const received: Received[] = [];
    const unreadable: { readonly entry: JournalEntry; readonly error: UsageRejectedError }[] = [];
    for (const entry of batch) {
      const content = readEntry(entry.body);
      if (content instanceof UsageRejectedError) unreadable.push({ entry, error: content });
      else received.push({ entry, content });
    }
    try {
      await recordInParts(received.filter(({ entry }) => !finished.has(entry.id)));
    } catch (error) {
      if (isOfTheStore(error)) throw error;
      failedAttempts += 1;
      if (failedAttempts < ATTEMPTS_BEFORE_SPLIT) throw error;
      const rest = received.filter(({ entry }) => !finished.has(entry.id));
      await recordApart(rest, error, failedAttempts);
    }
    for (const { entry, error } of unreadable) await setAside(entry, error);
    failedAttempts = 0;
    finished.clear();
  }

  async function recordInParts(received: readonly Received[]): Promise<void> {
    for (let at = 0; at < received.length;) {
      const part = received.slice(at, at + partSize);
      try {
        await recordTogether(part);
      } catch (error) {
        if (isOfTheStore(error)) partSize = Math.max(PART_SIZE_MIN, Math.ceil(part.length / 2));
        throw error;
      }
      for (const { entry } of part) finished.add(entry.id);
      at += part.length;
      partSize = Math.min(BATCH_SIZE, partSize + PART_SIZE_STEP);
    }
  }

  async function recordTogether(received: readonly Received[]): Promise<void> {
    const events = received.flatMap(({ content }) => content.event ?? []);
    const failures = received.flatMap(({ content }) => content.failures ?? []);
    const { added, points, facts } = await usage.record(events, { pointsPerUsd, failures });
    recorded.inc(added);
    paid.inc(points);
    await publishFacts(facts, settledCalls(events));
    announce(events, failures);
    await halts.release(received.map(({ entry }) => entry));
  }

  /** Nothing waits for it; a listener that misses it reads the log later. */
  function announce(events: readonly UsageEvent[], failures: readonly FailedRequest[]): void {
    const served = events.map(({ user_id, group_id }) => ({ userId: user_id, groupId: group_id }));
    dependencies.channels
      ?.publish(REQUESTS_CHANNEL, requestNotice([...served, ...failures]))
      .catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'announcing requests failed');
      });
  }

  /** Halves what failed until it is one event. */
  async function recordApart(
    received: readonly Received[],
    error: unknown,
    attempts = 1,
  ): Promise<void> {
    const [first] = received;
    if (received.length === 1 && first !== undefined) return recordAlone(first, error, attempts);
    const middle = Math.ceil(received.length / 2);
    for (const half of [received.slice(0, middle), received.slice(middle)]) {
      try {
        await recordTogether(half);
      } catch (halfError) {
        if (isOfTheStore(halfError)) throw halfError;
        await recordApart(half, halfError);
      }
    }
  }

  /** Money is set aside for its values alone: another failure halts the recorder. */
  async function recordAlone(received: Received, error: unknown, attempts: number): Promise<void> {
    const { entry, content } = received;
    if (error instanceof UsageRejectedError) return setAside(entry, error);
    if (attempts < ATTEMPTS_BEFORE_HALT) {
      await delay(ALONE_RETRY_MS);
      return recordTogether([received]).catch((again: unknown) => {
        if (isOfTheStore(again)) throw again;
        return recordAlone(received, again, attempts + 1);
      });
    }
    if (content.event === undefined) return setAside(entry, error);
    if (await halts.recordedAt(entry, error, () => recordTogether([received]))) return;
    rejected.inc();
    log.error({ event_id: entry.id }, 'a usage event was set aside, as an operator asked');
  }

  async function setAside({ id, body }: JournalEntry, error: unknown): Promise<void> {
    const reason = describeError(error);
    await rejectedUsage.add({ id, event: body, error: reason });
    rejected.inc();
    log.error({ event_id: id, reason }, 'a usage event was rejected and set aside');
  }

  /** A failure is only logged: the batch is already recorded, and the fact refresh publishes the balances later. */
  async function publishFacts(
    facts: AdmissionFacts,
    calls: readonly SettledReservation[],
  ): Promise<void> {
    const settled = [...unpublished, ...calls];
    unpublished = [];
    try {
      await admission.updateHints({ ...facts, settled });
    } catch (error) {
      // What is dropped expires by itself.
      unpublished = settled.slice(-UNPUBLISHED_MAX);
      log.warn({ reason: describeError(error) }, 'publishing balances failed');
    }
  }

  return {
    name: 'recorder',
    start: async () => {
      drained = journal.drain(record, { batchSize: BATCH_SIZE, signal });
      drained.catch((error: unknown) => log.error({ error }, 'the usage recorder stopped'));
    },
    stop: async () => {
      stopping.abort();
      await drained;
    },
  };
}

/** It is away or busy: the same batch may be recorded later. */
const isOfTheStore = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'store_unavailable';

const settledCalls = (events: readonly UsageEvent[]): readonly SettledReservation[] =>
  events.flatMap(({ call_id: id, user_id: userId }) => (id === undefined ? [] : [{ id, userId }]));
