import type { RpcResult } from '@model-gateway/contracts';
import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api/api.ts';
import { rangeEnds, type FrameSearch } from '../../frame/time-range.ts';
import type { FilterParams } from '../../spend/filter-search.ts';
import { periodBefore } from '../../spend/spend-series.ts';
import { askSummary, type Sums } from '../../spend/summary.ts';

type Request = RpcResult<'requests.list'>['requests'][number];

/** Percentiles are of this many requests: the most that one call gives. */
const RECENT_MAX = 200;

interface Previous {
  readonly total: Sums;
  readonly requests: readonly Request[];
}

/** The newest requests of the range. */
export const recentQuery = (api: Api, range: FrameSearch, params: FilterParams) => {
  const { paused: _paused, ...rangeOnly } = range;
  return queryOptions({
    queryKey: ['requests.list', 'recent', rangeOnly, params] as const,
    queryFn: async ({ signal }): Promise<readonly Request[]> => {
      const { from, to } = rangeEnds(range, Date.now());
      const { requests } = await api.call(
        'requests.list',
        { ...params, from: from.toISOString(), to: to.toISOString(), limit: RECENT_MAX },
        { signal },
      );
      return requests;
    },
  });
};

/** The sums of the time before, just as long, and the first tokens of its newest requests. */
export const previousQuery = (api: Api, range: FrameSearch, params: FilterParams) => {
  const { paused: _paused, ...rangeOnly } = range;
  return queryOptions({
    queryKey: ['usage.summary', 'previous', rangeOnly, params] as const,
    queryFn: async ({ signal }): Promise<Previous> => {
      const period = periodBefore(range, Date.now());
      const [{ total }, { requests }] = await Promise.all([
        askSummary(api, { ...params, ...period, group_by: 'day' }, { signal }),
        api.call('requests.list', { ...params, ...period, limit: RECENT_MAX }, { signal }),
      ]);
      return { total, requests };
    },
  });
};
