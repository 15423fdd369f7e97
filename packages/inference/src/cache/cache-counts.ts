import type { Metrics } from '@model-gateway/kernel';

/** What became of a request with the cache, or of an answer that was to be stored. */
export type CacheResult = 'hit' | 'miss' | 'bypass' | 'stored' | 'too_large';

/** Counts the use of the cache; requests without it are not counted. */
export type CountCache = (result: CacheResult) => void;

export function createCacheCounts(metrics: Metrics): CountCache {
  const results = metrics.counter({
    name: 'service_answer_cache_total',
    help: 'Requests with the exact cache: hit, miss or bypass; and answers: stored or too large.',
    labels: ['result'],
  });
  const series = {
    hit: results.series({ result: 'hit' }),
    miss: results.series({ result: 'miss' }),
    bypass: results.series({ result: 'bypass' }),
    stored: results.series({ result: 'stored' }),
    too_large: results.series({ result: 'too_large' }),
  };
  return (result) => series[result].inc();
}
