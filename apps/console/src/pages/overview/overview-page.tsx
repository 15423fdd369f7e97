import './overview.css';
import { getRouteApi } from '@tanstack/react-router';
import { memo, useMemo } from 'react';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useTimeRange } from '../../frame/use-time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { FilterBar } from '../../spend/filter-bar.tsx';
import { filterParams } from '../../spend/filter-search.ts';
import {
  spendQuery,
  type Dimension,
  type Measure,
  type SpendSeries,
} from '../../spend/spend-series.ts';
import { DimensionPicker, MeasureChart, NoUsage } from '../../spend/spend-view.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Attention } from './attention-list.tsx';
import { shareOf } from './error-share.ts';
import { Numbers } from './numbers.tsx';
import { percentilePlot } from './percentiles.ts';
import { recentQuery } from './overview-queries.ts';

const route = getRouteApi('/shell/overview');

const LIVE_MS = 15_000;
const NONE: readonly never[] = [];
const PERCENTILES = [
  { measure: 'first_token_ms', title: 'overview.first_token.chart' },
  { measure: 'latency_ms', title: 'overview.latency.chart' },
] as const;
const CHARTS: readonly Measure[] = ['requests', 'cost_usd', 'errors', 'total_tokens'];

/** How the service does: numbers, charts, and what needs attention. */
export function OverviewPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const { by = 'model', ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const range = useTimeRange();
  const params = filterParams(filters, 'all', isAdmin);
  const live = range.isLive ? { refetchInterval: LIVE_MS } : {};
  const spend = useQuery({
    ...spendQuery(api, range.search, params, { by, measure: 'requests' }),
    ...live,
  });
  const recent = useQuery({ ...recentQuery(api, range.search, params), ...live });
  const isEmpty = spend.data !== undefined && shareOf(spend.data.total) === undefined;
  return (
    <Page title={t('overview.title')} isBusy={spend.isFetching && spend.isPlaceholderData}>
      <FilterBar
        search={filters}
        fallback="all"
        onChange={(next) =>
          void navigate({
            search: ({ range: name, from, to, paused, by: division }) =>
              Object.fromEntries(
                Object.entries({ range: name, from, to, paused, by: division, ...next }).filter(
                  ([, value]) => value !== undefined,
                ),
              ),
          })
        }
      >
        <DimensionPicker
          value={by}
          onChange={(next) => void navigate({ search: (all) => ({ ...all, by: next }) })}
        />
      </FilterBar>
      <ErrorNote error={spend.error} onRetry={() => void spend.refetch()} />
      {spend.isError ? null : (
        <ErrorNote error={recent.error} onRetry={() => void recent.refetch()} />
      )}
      {spend.isPending ? <Skeleton lines={8} /> : null}
      {isEmpty ? <NoUsage /> : null}
      {spend.data === undefined || isEmpty ? null : (
        <Numbers
          data={spend.data}
          requests={recent.data ?? []}
          range={range.search}
          params={params}
        />
      )}
      <Attention scope={params.scope} groupId={params.group_id} />
      {spend.data === undefined || isEmpty ? null : (
        <Charts data={spend.data} requests={recent.data ?? NONE} by={by} />
      )}
    </Page>
  );
}

interface ChartsProps {
  readonly data: SpendSeries;
  readonly requests: Parameters<typeof percentilePlot>[0];
  readonly by: Dimension;
}

const Charts = memo(function Charts({ data, requests, by }: ChartsProps) {
  const { t } = useLanguage();
  const percentiles = useMemo(() => {
    const names = {
      p50: t('overview.percentile', { share: 50 }),
      p95: t('overview.percentile', { share: 95 }),
    };
    return PERCENTILES.flatMap(({ measure, title }) => {
      const plot = percentilePlot(requests, measure, names);
      return plot === undefined ? [] : [{ title, plot }];
    });
  }, [requests, t]);
  return (
    <div className="overview-charts">
      {CHARTS.map((measure) => (
        <MeasureChart key={measure} data={data} by={by} measure={measure} />
      ))}
      {percentiles.map(({ title, plot }) => (
        <Chart key={title} title={t(title, { count: requests.length })} plot={plot} />
      ))}
    </div>
  );
});
