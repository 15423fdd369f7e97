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
  readonly admission: Pick<AdmissionStore, 'learn'>;
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
    await tell(facts);
  }

  /** The batch is recorded whether or not the admission store hears of it. */
  async function tell(facts: AdmissionFacts): Promise<void> {
    try {
      await admission.learn(facts);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'new quotas and balances were not told');
    }
  }

  return {
    name: 'recorder',
    start: async () => {
      drained = journal.drain(record, { batchSize: BATCH_SIZE, signal: stopping.signal });
      drained.catch((error: unknown) => log.error({ error }, 'the usage recorder ended'));
    },
    stop: async () => {
      stopping.abort();
      await drained;
    },
  };
}

/** An entry that is not an event can never be recorded; it is told once and must not hold up the others. */
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
