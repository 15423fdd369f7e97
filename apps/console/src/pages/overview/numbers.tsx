import type { ReactNode } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import type { FrameSearch } from '../../frame/time-range.ts';
import { useLanguage } from '../../preferences/language.tsx';
import type { FilterParams } from '../../spend/filter-search.ts';
import { NoPrice } from '../../spend/no-price.tsx';
import type { SpendSeries } from '../../spend/spend-series.ts';
import { shareOf } from './error-share.ts';
import { previousQuery } from './overview-queries.ts';
import { percentile } from './percentiles.ts';

type Timed = readonly { readonly first_token_ms: number | null }[];

interface NumbersProps {
  readonly data: Pick<SpendSeries, 'total'>;
  readonly requests: Timed;
  readonly range: FrameSearch;
  readonly params: FilterParams;
}

/** The numbers of the range, with their change from the range before. */
export function Numbers({ data: { total }, requests, range, params }: NumbersProps) {
  const { t, format } = useLanguage();
  const api = useApi();
  const previous = useQuery(previousQuery(api, range, params)).data;
  const firstToken = slowFirstToken(requests);
  const errorShare = shareOf(total);
  return (
    <dl className="numbers">
      <Figure
        name={t('spend.measure.requests')}
        value={format.number(total.requests)}
        change={changeOf(total.requests, previous?.total.requests)}
        detail={
          total.cancelled === 0
            ? undefined
            : t('overview.requests.cancelled', { count: total.cancelled })
        }
      />
      <Figure
        name={t('spend.measure.cost_usd')}
        value={format.money(total.cost_usd)}
        change={changeOf(total.cost_usd, previous?.total.cost_usd)}
        detail={total.cost_usd === 0 && total.total_tokens > 0 ? <NoPrice /> : undefined}
      />
      <Figure
        name={t('spend.measure.total_tokens')}
        value={format.compact(total.total_tokens)}
        change={changeOf(total.total_tokens, previous?.total.total_tokens)}
      />
      <Figure
        name={t('spend.measure.errors')}
        value={format.number(total.errors)}
        change={changeOf(total.errors, previous?.total.errors)}
        detail={
          errorShare === undefined
            ? undefined
            : t('overview.errors.share', { share: format.percent(errorShare) })
        }
      />
      <Figure
        name={t('overview.first_token')}
        value={firstToken === undefined ? '–' : format.duration(firstToken)}
        change={
          firstToken === undefined
            ? undefined
            : changeOf(firstToken, slowFirstToken(previous?.requests ?? []))
        }
        detail={t('overview.newest', { count: requests.length })}
      />
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly change?: number | undefined;
  /** A line above the change. */
  readonly detail?: ReactNode;
}

function Figure({ name, value, change, detail }: FigureProps) {
  const { t, format } = useLanguage();
  const sign = change !== undefined && change > 0 ? '+' : '';
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className="figure-value">{value}</dd>
      {detail === undefined ? null : <dd className="figure-detail">{detail}</dd>}
      {change === undefined ? null : (
        <dd className="figure-detail">
          {t('overview.change', { change: `${sign}${format.percent(change)}` })}
        </dd>
      )}
    </div>
  );
}

/** The time to the first token that 95 of 100 requests do not exceed. */
const slowFirstToken = (requests: Timed): number | undefined =>
  percentile(
    requests.flatMap(({ first_token_ms: ms }) => ms ?? []),
    0.95,
  );

/** The relative change; undefined where there was nothing before. */
const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : (now - before) / before;
