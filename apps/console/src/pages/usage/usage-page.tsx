import { getRouteApi } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useTimeRange } from '../../frame/use-time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { downloadCsv } from '../../spend/download.ts';
import { FilterBar } from '../../spend/filter-bar.tsx';
import { filterParams } from '../../spend/filter-search.ts';
import { MEASURES, spendQuery, type Measure } from '../../spend/spend-series.ts';
import { DimensionPicker, MeasureChart, NoUsage } from '../../spend/spend-view.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { SumsTable } from './sums-table.tsx';

const route = getRouteApi('/shell/usage');

const LIVE_MS = 15_000;
const CHART_HEIGHT = 280;

/** What was used in a range, by model, key or another dimension: over time, as a table, and as a file. */
export function UsagePage() {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { by = 'model', measure: chosen, ...filters } = search;
  const range = useTimeRange();
  const params = filterParams(filters, 'self', isAdmin);
  const usage = useQuery({
    ...spendQuery(api, range.search, params, { by, measure: chosen ?? 'cost_usd' }),
    ...(range.isLive ? { refetchInterval: LIVE_MS } : {}),
  });
  const saving = useMutation({ mutationFn: () => downloadCsv(api, range.search, params, by) });
  const { data } = usage;
  // Where nothing has a price, the number of requests says more.
  const measure = chosen ?? (data?.total.cost_usd === 0 ? 'requests' : 'cost_usd');
  const isEmpty = data !== undefined && data.total.requests === 0;
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
        <DimensionPicker
          value={by}
          onChange={(next) => void navigate({ search: (all) => ({ ...all, by: next }) })}
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
      {isEmpty ? <NoUsage /> : null}
      {data === undefined || isEmpty ? null : (
        <>
          <MeasureChart data={data} by={by} measure={measure} height={CHART_HEIGHT} />
          <SumsTable data={data} by={by} />
        </>
      )}
    </Page>
  );
}

/** Without what is undefined: an address has only what was chosen. */
const keep = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>;
