import { UsageRejectedError, type RecordedBatch, type UsageStore } from '@model-gateway/billing';
import { ServiceError, type UsageEvent } from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';
import { arrayText } from '../connection/array-text.ts';
import type { Connection, RawQueries } from '../connection/connection.ts';
import { classifyFailure, isFaultOfValues, isPassing } from '../connection/store-failure.ts';
import { listUsage } from './usage-listing.ts';
import { storable } from './storable-event.ts';
import { settleBatch, type SettlementOptions } from './usage-settlement.ts';

const NOTHING: RecordedBatch = { added: 0, points: 0, facts: { windows: [], accounts: [] } };

/** Metered requests in Postgres, and failed ones that are counted with them. */
export function createPostgresUsage(connection: Connection): UsageStore {
  const settle = (batch: readonly UsageEvent[], options: SettlementOptions) =>
    connection.rawTransaction(async (queries) => {
      const recorded = await settleBatch(queries, batch, options);
      await touchKeys(queries, batch);
      return recorded;
    });

  /**
   * Looks for rows that are there already only after storing the batch has shown that there are some. The lock of the settlements
   * lets none come in between. In an open transaction nothing can be tried again.
   */
  async function recordOnce(
    batch: readonly UsageEvent[],
    options: Omit<SettlementOptions, 'mayBeKnown'>,
  ): Promise<RecordedBatch> {
    if (!connection.isInTransaction)
      try {
        return await settle(batch, { ...options, mayBeKnown: false });
      } catch (error) {
        if (classifyFailure(error).kind !== 'taken') throw error;
      }
    return settle(batch, { ...options, mayBeKnown: true });
  }

  return {
    async record(events, { pointsPerUsd, failures = [] }) {
      if (events.length === 0 && failures.length === 0) return NOTHING;
      try {
        return await recordOnce(events.map(storable), { pointsPerUsd, failures });
      } catch (error) {
        // A transaction around it tells conflicts apart.
        if (!connection.isInTransaction && isPassing(error))
          throw new ServiceError('store_unavailable', describeError(error), { cause: error });
        if (!isFaultOfValues(error)) throw error;
        const reason = describeError(error).replaceAll(/\s+/g, ' ').trim();
        throw new UsageRejectedError(reason, { cause: error });
      }
    },

    list: (query) => connection.run((queries) => listUsage(queries, query)),
  };
}

/** Updates when the keys were last used, at most once a minute each. A key that another process is writing is skipped. */
async function touchKeys(queries: RawQueries, events: readonly UsageEvent[]): Promise<void> {
  const used = lastUses(events);
  if (used.size === 0) return;
  await queries.$executeRaw`
    WITH stale AS (
      SELECT k.id, used.used_at
      FROM unnest(
        ${arrayText([...used.keys()])}::uuid[],
        ${arrayText([...used.values()])}::timestamptz[]
      ) AS used (key_id, used_at)
      JOIN api_keys k ON k.id = used.key_id
      WHERE k.last_used_at IS NULL OR k.last_used_at < used.used_at - INTERVAL '1 minute'
      FOR NO KEY UPDATE OF k SKIP LOCKED
    )
    UPDATE api_keys k SET last_used_at = stale.used_at FROM stale WHERE k.id = stale.id`;
}

/** The time of the last use of each key. Texts of one second may sort otherwise than the times, which does not matter here. */
function lastUses(events: readonly UsageEvent[]): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  for (const { key_id: keyId, created_at: time } of events)
    if (keyId !== null && time > (uses.get(keyId) ?? '')) uses.set(keyId, time);
  return uses;
}
