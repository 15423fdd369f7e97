import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { useApi, useUser } from '../../api/use-api.ts';
import { useTimeRange } from '../../frame/use-time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { downloadCsv } from '../../spend/download.ts';
import { FilterBar } from '../../spend/filter-bar.tsx';
import { filterParams } from '../../spend/filter-search.ts';
import {
  DIMENSIONS,
  MEASURES,
  seriesOf,
  spendQuery,
  type Dimension,
  type Measure,
  type SpendSeries,
} from '../../spend/spend-series.ts';
import { useNames } from '../../spend/use-names.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { SumsTable } from './sums-table.tsx';
import { usageRoute } from './route.ts';

const LIVE_MS = 15_000;
const CHART_HEIGHT = 280;

/** What was used in a range, by model, key or another dimension: over time, as a table, and as a file. */
export function UsagePage() {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const search = usageRoute.useSearch();
  const navigate = usageRoute.useNavigate();
  const { by = 'model', measure: chosen, ...filters } = search;
  const range = useTimeRange();
  const params = filterParams(filters, 'self', isAdmin);
  const usage = useQuery({
    ...spendQuery(api, range.search, params, { by, measure: chosen ?? 'cost_usd' }),
    refetchInterval: range.isLive ? LIVE_MS : false,
  });
  const saving = useMutation({ mutationFn: () => downloadCsv(api, range.search, params, by) });
  const { data } = usage;
  // Where nothing has a price, the number of requests says more.
  const measure = chosen ?? (data?.total.cost_usd === 0 ? 'requests' : 'cost_usd');
  const isEmpty = data?.total.requests === 0;
  return (
    <Page
      title={t('usage.title')}
      isBusy={usage.isFetching && usage.isPlaceholderData}
      actions={
        <Button onClick={() => saving.mutate()} disabled={saving.isPending}>
          <Download aria-hidden size={14} /> {t('action.download_csv')}
        </Button>
      }
    >
      <FilterBar
        search={filters}
        fallback="self"
        onChange={(next) =>
          void navigate({
            search: ({ range: name, from, to, paused }) => ({
              ...keep({ range: name, from, to, paused, by: search.by, measure: search.measure }),
              ...next,
            }),
          })
        }
      >
        <Select
          label={t('spend.by')}
          isLabelHidden
          value={by}
          choices={DIMENSIONS.map((value) => ({ value, label: t(`spend.by.${value}`) }))}
          onChange={(next: Dimension) => void navigate({ search: (all) => ({ ...all, by: next }) })}
        />
        <Select
          label={t('spend.measure')}
          isLabelHidden
          value={measure}
          choices={MEASURES.map((value) => ({ value, label: t(`spend.measure.${value}`) }))}
          onChange={(next: Measure) =>
            void navigate({ search: (all) => ({ ...all, measure: next }) })
          }
        />
      </FilterBar>
      <ErrorNote error={saving.error} />
      <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />
      {usage.isPending ? <Skeleton lines={8} /> : null}
      {isEmpty ? (
        <Empty
          text={t('spend.empty')}
          action={
            <Link to="/playground" className="button button-primary">
              {t('usage.empty.action')}
            </Link>
          }
        />
      ) : null}
      {data === undefined || isEmpty ? null : <Content data={data} by={by} measure={measure} />}
    </Page>
  );
}

interface ContentProps {
  readonly data: SpendSeries;
  readonly by: Dimension;
  readonly measure: Measure;
}

function Content({ data, by, measure }: ContentProps) {
  const { t } = useLanguage();
  const nameOf = useNames();
  const plot = useMemo(
    () => ({
      kind: 'bars' as const,
      unit: measure === 'cost_usd' ? ('money' as const) : ('count' as const),
      times: data.times,
      from: data.from,
      to: data.to,
      isByDay: data.isByDay,
      series: seriesOf(data, measure, (key) => nameOf(by, key), t('chart.other')),
    }),
    [data, by, measure, nameOf, t],
  );
  const title = t(data.isByDay ? 'spend.chart.day' : 'spend.chart.hour', {
    measure: t(`spend.measure.${measure}`),
  });
  return (
    <>
      <Chart title={title} plot={plot} height={CHART_HEIGHT} />
      <SumsTable data={data} by={by} />
    </>
  );
}

/** Without what is undefined: an address has only what was chosen. */
const keep = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>;
