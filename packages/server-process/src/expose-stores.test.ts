import { createMetrics } from '@model-gateway/kernel';
import { exposeStores } from './expose-stores.ts';

const database = { poolStats: () => ({ total: 5, idle: 2, waiting: 1 }) };

/** What a scrape says of a bus. */
async function scraped(bus: {
  readonly isShared: boolean;
  readonly mode: () => 'redis' | 'local';
  readonly lag: () => Promise<number>;
}): Promise<string> {
  const metrics = createMetrics();
  const journal = {
    append: () => Promise.resolve(),
    drain: () => Promise.resolve(),
    lag: bus.lag,
  };
  exposeStores({ database, bus: { ...bus, journal } }, metrics);
  return metrics.expose();
}

test('the pool, the journal and a Redis that is there are shown', async () => {
  const text = await scraped({ isShared: true, mode: () => 'redis', lag: async () => 3 });
  expect(text).toContain('service_database_pool_connections{state="total"} 5\n');
  expect(text).toContain('service_database_pool_connections{state="idle"} 2\n');
  expect(text).toContain('service_database_pool_connections{state="waiting"} 1\n');
  expect(text).toContain('service_journal_lag 3\n');
  expect(text).toContain('service_redis_connected 1\n');
});

test('while Redis is unavailable the journal lag is unknown', async () => {
  const text = await scraped({ isShared: true, mode: () => 'local', lag: async () => 0 });
  expect(text).toContain('service_journal_lag Nan\n');
  expect(text).toContain('service_redis_connected 0\n');
});

test('a Redis that fails during the read is unavailable', async () => {
  let mode: 'redis' | 'local' = 'redis';
  const lag = async () => {
    mode = 'local';
    return 0;
  };
  const text = await scraped({ isShared: true, mode: () => mode, lag });
  expect(text).toContain('service_journal_lag Nan\n');
});

test('without a configured Redis none is unavailable', async () => {
  const text = await scraped({ isShared: false, mode: () => 'local', lag: async () => 2 });
  expect(text).toContain('service_journal_lag 2\n');
  expect(text).not.toContain('service_redis_connected');
});

test('a journal that fails does not fail the scrape', async () => {
  const lag = () => Promise.reject(new Error('unavailable'));
  const text = await scraped({ isShared: true, mode: () => 'redis', lag });
  expect(text).toContain('service_journal_lag Nan\n');
  expect(text).toContain('service_redis_connected 1\n');
});
