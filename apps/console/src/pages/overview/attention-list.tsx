import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { memo, useMemo } from 'react';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { NAVIGATION } from '../../frame/navigation.ts';
import { useLanguage } from '../../preferences/language.tsx';
import type { FilterParams } from '../../spend/filter-search.ts';
import { askSummary } from '../../spend/summary.ts';
import { Badge } from '../../ui/badge.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { When } from '../../ui/when.tsx';
import { concernsOf } from './attention.ts';

const AGAIN_MS = 30_000;
const HOUR_MS = 3_600_000;
const VIDEOS = 100;
/** A longer list is not read; the worst are first. */
const SHOWN_MAX = 20;

const PAGES = new Set(NAVIGATION.flatMap(({ items }) => items.map(({ to }) => to)));

interface AttentionProps {
  readonly scope: FilterParams['scope'];
  readonly groupId: FilterParams['group_id'];
}

/** What is unhealthy now, and what will run out. */
export const Attention = memo(function Attention({ scope, groupId }: AttentionProps) {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const again = { refetchInterval: AGAIN_MS };
  const plan = useQuery({ ...api.query('billing.plan'), ...again });
  const keys = useQuery({ ...api.query('keys.list'), ...again });
  const nodes = useQuery({ ...api.query('agents.list'), ...again, enabled: isAdmin });
  const backends = useQuery({ ...api.query('backends.list'), ...again, enabled: isAdmin });
  const videos = useQuery({ ...api.query('video.list', { limit: VIDEOS }), ...again });
  const upstreams = useQuery({
    queryKey: ['usage.summary', 'attention', scope, groupId],
    queryFn: ({ signal }) =>
      askSummary(
        api,
        {
          ...(scope === undefined ? {} : { scope }),
          ...(groupId === undefined ? {} : { group_id: groupId }),
          from: new Date(Date.now() - HOUR_MS).toISOString(),
          group_by: 'upstream',
        },
        { signal },
      ),
    ...again,
  });
  const concerns = useMemo(
    () =>
      concernsOf(
        {
          plan: plan.data,
          keys: keys.data,
          nodes: nodes.data,
          backends: backends.data,
          upstreams: upstreams.data?.groups,
          videos: videos.data?.jobs,
        },
        Date.now(),
      ),
    [plan.data, keys.data, nodes.data, backends.data, upstreams.data, videos.data],
  );
  const parts = [plan, keys, videos, upstreams, ...(isAdmin ? [nodes, backends] : [])];
  const hasFailed = parts.some(({ isError }) => isError);
  const isWaiting = parts.some(({ isPending }) => isPending);
  return (
    <section className="attention" aria-label={t('attention.title')}>
      <h2>{t('attention.title')}</h2>
      {hasFailed ? <p role="status">{t('attention.unknown')}</p> : null}
      {concerns.length === 0 ? (
        <Nothing isWaiting={isWaiting} hasFailed={hasFailed} />
      ) : (
        <ul>
          {concerns.slice(0, SHOWN_MAX).map(({ id, state, text, values, at, to }) => (
            <li key={id}>
              <Badge state={state}>
                {t(state === 'bad' ? 'attention.bad' : 'attention.warning')}
              </Badge>
              <span className="attention-text">
                {t(text, values)} {at === undefined ? null : <When time={at} />}
              </span>
              {PAGES.has(to) ? <Link to={to}>{t('attention.open')}</Link> : null}
            </li>
          ))}
          {concerns.length > SHOWN_MAX ? (
            <li>{t('state.more', { count: concerns.length - SHOWN_MAX })}</li>
          ) : null}
        </ul>
      )}
    </section>
  );
});

interface NothingProps {
  readonly isWaiting: boolean;
  readonly hasFailed: boolean;
}

/** Only when everything was checked is it known that nothing needs attention. */
function Nothing({ isWaiting, hasFailed }: NothingProps) {
  const { t } = useLanguage();
  if (hasFailed) return null;
  if (isWaiting) return <Skeleton lines={1} />;
  return (
    <p className="attention-none">
      <CircleCheck aria-hidden size={16} /> {t('attention.none')}
    </p>
  );
}
