import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/use-api.ts';
import { useTimeRange } from '../../frame/use-time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, Skeleton } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { usageRoute } from './route.ts';
import { UsageTable } from './usage-table.tsx';

const ROWS = 50;
const LIVE_MS = 5000;

/** The viewer's requests, newest first. */
export function UsagePage() {
  const { t } = useLanguage();
  const api = useApi();
  const { offset = 0, project } = usageRoute.useSearch();
  const { isLive } = useTimeRange();
  const navigate = usageRoute.useNavigate();
  const usage = useQuery({
    ...api.query('usage.list', {
      limit: ROWS,
      offset,
      ...(project === undefined ? {} : { project }),
    }),
    refetchInterval: isLive && offset === 0 ? LIVE_MS : false,
  });
  const { data } = usage;
  return (
    <Page title={t('usage.title')} isBusy={usage.isFetching && usage.isPlaceholderData}>
      <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />
      {usage.isPending ? <Skeleton /> : null}
      {data?.total === 0 ? (
        <Empty
          text={t('usage.empty')}
          action={
            <Link to="/playground" className="button button-primary">
              {t('usage.empty.action')}
            </Link>
          }
        />
      ) : null}
      {data === undefined || data.total === 0 ? null : (
        <>
          <UsageTable rows={data.records} />
          <Pager
            offset={offset}
            limit={ROWS}
            total={data.total}
            onChange={(next) =>
              void navigate({
                search: ({ offset: _offset, ...rest }) =>
                  next === 0 ? rest : { ...rest, offset: next },
              })
            }
          />
        </>
      )}
    </Page>
  );
}
