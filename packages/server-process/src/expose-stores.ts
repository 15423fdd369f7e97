import type { Bus } from '@model-gateway/bus';
import type { Database } from '@model-gateway/db';
import type { Metrics } from '@model-gateway/kernel';

interface ExposedStores {
  readonly database: Pick<Database, 'poolStats'>;
  readonly bus: Pick<Bus, 'journal' | 'mode' | 'isShared'>;
}

/** Metrics of the stores of a process. Collecting them does not wait for a store that is unavailable. */
export function exposeStores({ database, bus }: ExposedStores, metrics: Metrics): void {
  metrics.gauge({
    name: 'service_database_pool_connections',
    help: 'Database connections: all of them, those that are idle, and callers that wait for one.',
    labels: ['state'],
    collect(gauge) {
      const { total, idle, waiting } = database.poolStats();
      gauge.set({ state: 'total' }, total);
      gauge.set({ state: 'idle' }, idle);
      gauge.set({ state: 'waiting' }, waiting);
    },
  });
  metrics.gauge({
    name: 'service_journal_lag',
    isShared: true,
    help: 'Usage events that have not been recorded yet: on Redis and in the files of this data directory. NaN during an outage of Redis.',
    async collect(gauge) {
      const lag = await bus.journal.lag().catch(() => Number.NaN);
      // The lag on Redis is unknown during an outage. Checked after reading, because the outage may have begun meanwhile.
      gauge.set(bus.isShared && bus.mode() === 'local' ? Number.NaN : lag);
    },
  });
  // Without a configured Redis there is no connection to report.
  if (!bus.isShared) return;
  metrics.gauge({
    name: 'service_redis_connected',
    isShared: true,
    help: 'Whether limits, quotas and notifications are served from Redis (1), or by this process alone during an outage (0).',
    collect: (gauge) => gauge.set(bus.mode() === 'redis' ? 1 : 0),
  });
}
