import { Link, getRouteApi } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { rangeEnds } from '../../frame/time-range.ts';
import { useTimeRange } from '../../frame/use-time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { FilterBar } from '../../spend/filter-bar.tsx';
import { filterParams, NO_FILTERS, type FilterSearch } from '../../spend/filter-search.ts';
import { RequestTable } from '../../spend/request-table.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { FindRequest } from './find-request.tsx';
import { RequestStory } from './request-story.tsx';
import { STATUSES } from './request-status.ts';
import { useLiveRequests } from './use-live-requests.ts';
import { useRowKeys } from './use-row-keys.ts';

const route = getRouteApi('/shell/requests');

const ROWS = 50;
const ANY = 'any';

/** Metered requests, newest first, and the whole story of one. */
export function RequestsPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const { status, cursor, request, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const range = useTimeRange();
  const params = filterParams(filters, 'all', isAdmin);
  const isNewest = cursor === undefined;
  const { paused: _paused, ...rangeOnly } = range.search;
  const list = useQuery({
    queryKey: ['requests.list', rangeOnly, params, status, cursor],
    queryFn: ({ signal }) => {
      const { from, to } = rangeEnds(range.search, Date.now());
      return api.call(
        'requests.list',
        {
          ...params,
          from: from.toISOString(),
          to: to.toISOString(),
          ...(status === undefined ? {} : { status }),
          ...(cursor === undefined ? {} : { cursor }),
          limit: ROWS,
        },
        { signal },
      );
    },
  });
  const { refetch } = list;
  const live = useLiveRequests({ isOn: range.isLive && isNewest, params, onChange: refetch });
  const [isFinding, setFinding] = useState(false);
  useRowKeys(() => setFinding(true));
  const go = useCallback(
    (change: Readonly<Record<string, unknown>>): void =>
      void navigate({
        search: (all: object) =>
          Object.fromEntries(
            Object.entries({ ...all, ...change }).filter(([, value]) => value !== undefined),
          ),
      }),
    [navigate],
  );
  const open = useCallback((id: string) => go({ request: id }), [go]);
  const changeFilters = (next: FilterSearch): void =>
    go({ ...NO_FILTERS, ...next, cursor: undefined });
  const { data } = list;
  const isEmpty = data?.requests.length === 0;
  return (
    <Page
      title={t('requests.title')}
      intro={t('requests.intro')}
      isBusy={list.isFetching && list.isPlaceholderData}
      actions={<Button onClick={() => setFinding(true)}>{t('requests.find')}</Button>}
    >
      <FilterBar search={filters} fallback="all" onChange={changeFilters}>
        <Select
          label={t('usage.column.status')}
          isLabelHidden
          value={typeof status === 'string' ? status : ANY}
          choices={[ANY, ...STATUSES].map((value) => ({
            value,
            label: t(`requests.status.${value as typeof ANY | (typeof STATUSES)[number]}`),
          }))}
          onChange={(next) => go({ status: next === ANY ? undefined : next, cursor: undefined })}
        />
      </FilterBar>
      <div className="requests-live" role="status">
        {live === 'live' ? <Badge state="good">{t('requests.live')}</Badge> : null}
        {live === 'lost' ? <Badge state="warning">{t('requests.live.lost')}</Badge> : null}
        {live === undefined ? <Badge state="neutral">{t('requests.live.off')}</Badge> : null}
      </div>
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending ? <Skeleton lines={10} /> : null}
      {isEmpty ? (
        <Empty
          text={t('requests.empty')}
          action={
            <Link to="/playground" className="button button-primary">
              {t('usage.empty.action')}
            </Link>
          }
        />
      ) : null}
      {data === undefined || isEmpty ? null : <RequestTable rows={data.requests} onOpen={open} />}
      {isNewest && (data?.next_cursor ?? null) === null ? null : (
        <nav className="pager" aria-label={t('requests.pages')}>
          <Button disabled={isNewest} onClick={() => go({ cursor: undefined })}>
            {t('requests.newest')}
          </Button>
          <Button
            disabled={(data?.next_cursor ?? null) === null}
            onClick={() => go({ cursor: data?.next_cursor ?? undefined })}
          >
            {t('requests.older')}
          </Button>
          <span className="field-hint">
            {t('table.sorted_part', { count: data?.requests.length ?? 0 })}
          </span>
        </nav>
      )}
      {request === undefined ? null : (
        <RequestStory id={request} onClose={() => go({ request: undefined })} />
      )}
      {isFinding ? (
        <FindRequest
          onClose={() => setFinding(false)}
          onFind={(id) => {
            setFinding(false);
            go({ request: id });
          }}
        />
      ) : null}
    </Page>
  );
}
