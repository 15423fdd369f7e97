import type { AdmissionFacts, AdmissionStore, UsageStore } from '@model-gateway/billing';
import { usageEventSchema, type UsageEvent } from '@model-gateway/contracts';
import {
  describeError,
  type Journal,
  type JournalEntry,
  type Log,
  type Metrics,
  type Part,
} from '@model-gateway/kernel';
import { createPointsCount } from './points-count.ts';

interface RecorderDependencies {
  readonly journal: Journal;
  readonly usage: Pick<UsageStore, 'record'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly pointsPerUsd: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

const BATCH_SIZE = 500;

/** Drains the usage journal into the database, each event settled and written once. */
export function createRecorder(dependencies: RecorderDependencies): Part {
  const { journal, usage, admission, pointsPerUsd, metrics, log } = dependencies;
  const stopping = new AbortController();
  let drained: Promise<void> = Promise.resolve();
  const recorded = metrics
    .counter({ name: 'service_usage_recorded_total', help: 'Usage rows written.' })
    .series({});

  const paid = createPointsCount(metrics);

  async function record(batch: readonly JournalEntry[]): Promise<void> {
    const events = batch.flatMap((entry) => readEvent(entry, log));
    const { added, points, facts } = await usage.record(events, { pointsPerUsd });
    recorded.inc(added);
    paid.inc(points);
    await publishFacts(facts);
  }

  /** A failure is only logged: the batch is already recorded, and the fact refresh publishes the balances later. */
  async function publishFacts(facts: AdmissionFacts): Promise<void> {
    try {
      await admission.updateHints(facts);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'publishing balances failed');
    }
  }

  return {
    name: 'recorder',
    start: async () => {
      drained = journal.drain(record, { batchSize: BATCH_SIZE, signal: stopping.signal });
      drained.catch((error: unknown) => log.error({ error }, 'the usage recorder stopped'));
    },
    stop: async () => {
      stopping.abort();
      await drained;
    },
  };
}

/** An entry that is not an event can never be recorded; it is logged once and must not block the others. */
function readEvent(entry: JournalEntry, log: Log): readonly UsageEvent[] {
  try {
    return [usageEventSchema.parse(JSON.parse(entry.body))];
  } catch (error) {
    log.error(
      { error, entry_id: entry.id, entry_body: entry.body },
      'a journal entry is not a usage event',
    );
    return [];
  }
}
