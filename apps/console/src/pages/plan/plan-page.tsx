import type { RpcResult } from '@model-gateway/contracts';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { LedgerTable } from '../../ui/ledger-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';

type Plan = RpcResult<'billing.plan'>;
type Tier = Plan['tiers'][number];

type Key = RpcResult<'keys.list'>[number];

const AGAIN_MS = 15_000;
/** The page of the keys has the others. */
const BUDGETS_MAX = 10;

/** What the viewer may use this month, what is left, and their points. */
export function PlanPage() {
  const { t } = useLanguage();
  const api = useApi();
  const plan = useQuery({ ...api.query('billing.plan'), refetchInterval: AGAIN_MS });
  const ledger = useQuery({ ...api.query('ledger.self'), refetchInterval: AGAIN_MS });
  const keys = useQuery(api.query('keys.list'));
  const budgets = useMemo(() => fullestBudgets(keys.data ?? []), [keys.data]);
  return (
    <Page title={t('plan.title')} intro={t('plan.intro')}>
      <ErrorNote error={plan.error} onRetry={() => void plan.refetch()} />
      {plan.isPending ? <Skeleton /> : null}
      {plan.data === undefined ? null : <Quota plan={plan.data} />}
      <section className="panel" aria-label={t('plan.budgets')}>
        <h2>{t('plan.budgets')}</h2>
        <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />
        {keys.isPending ? <Skeleton /> : null}
        {keys.data !== undefined && budgets.length === 0 ? (
          <p className="page-intro">
            {t('plan.budgets.none')} <Link to="/keys">{t('plan.budgets.set')}</Link>
          </p>
        ) : null}
        {budgets.slice(0, BUDGETS_MAX).map((key) => (
          <KeyBudget key={key.id} budget={key} />
        ))}
        {budgets.length > BUDGETS_MAX ? (
          <Link to="/keys">{t('state.more', { count: budgets.length - BUDGETS_MAX })}</Link>
        ) : null}
      </section>
      <section className="panel" aria-label={t('plan.points')}>
        <h2>{t('plan.points')}</h2>
        <ErrorNote error={ledger.error} onRetry={() => void ledger.refetch()} />
        {ledger.isPending ? <Skeleton /> : null}
        {ledger.data === undefined ? null : (
          <LedgerTable ledger={ledger.data} empty={t('plan.points.none')} />
        )}
      </section>
      {plan.data === undefined ? null : <Tiers plan={plan.data} />}
    </Page>
  );
}

function Quota({ plan }: { readonly plan: Plan }) {
  const { t, format } = useLanguage();
  const { usage, remaining, current_tier: tier, quota_exceeded: isExceeded } = plan;
  const limitOf = (used: number, left: number | null): number | null =>
    left === null ? null : used + left;
  const current = plan.tiers.find(({ name }) => name === tier);
  return (
    <section className="panel" aria-label={t('plan.quota')}>
      <div className="panel-head">
        <h2>{t('plan.quota', { tier })}</h2>
        <Badge state={isExceeded ? 'bad' : 'good'}>
          {t(isExceeded ? 'plan.exceeded' : 'plan.within')}
        </Badge>
      </div>
      <Meter
        label={t('spend.measure.cost_usd')}
        used={usage.cost_usd}
        limit={current?.monthly_usd_quota ?? limitOf(usage.cost_usd, remaining.cost_usd)}
        format={(value) => format.money(value)}
      />
      <Meter
        label={t('spend.measure.total_tokens')}
        used={usage.tokens}
        limit={current?.monthly_token_quota ?? limitOf(usage.tokens, remaining.tokens)}
        format={(value) => format.number(value)}
      />
      <p className="page-intro">{t('plan.requests', { count: usage.requests })}</p>
    </section>
  );
}

/** The keys with a budget, those that have used the largest share first. */
function fullestBudgets(keys: readonly Key[]): readonly Key[] {
  const shareOf = ({ budget_usd: budget, budget_used_usd: used }: Key): number =>
    (used ?? 0) / (budget ?? 0);
  return keys
    .filter(({ active, budget_usd: budget }) => active && budget !== null)
    .toSorted((one, other) => shareOf(other) - shareOf(one));
}

function KeyBudget({ budget: key }: { readonly budget: Key }) {
  const { t, format } = useLanguage();
  const period = t(`keys.period.${key.budget_period ?? 'total'}`);
  return (
    <div>
      <Meter
        label={`${key.name} (${period})`}
        used={key.budget_used_usd ?? 0}
        limit={key.budget_usd}
        format={(value) => format.money(value)}
      />
      {key.budget_resets_at === null ? null : (
        <p className="page-intro">
          {t('plan.resets', { time: format.dateTime(key.budget_resets_at) })}
        </p>
      )}
    </div>
  );
}

function Tiers({ plan }: { readonly plan: Plan }) {
  const { t, format } = useLanguage();
  const columns = useMemo((): readonly Column<Tier>[] => {
    const orUnlimited = (value: number | null, show: (limit: number) => string): string =>
      value === null ? t('plan.unlimited') : show(value);
    return [
      {
        id: 'name',
        header: t('plan.tier'),
        cell: ({ name }) =>
          name === plan.current_tier ? (
            <span>
              {name} <Badge state="neutral">{t('plan.yours')}</Badge>
            </span>
          ) : (
            name
          ),
      },
      {
        id: 'usd',
        header: t('plan.tier.usd'),
        isNumber: true,
        cell: ({ monthly_usd_quota: quota }) => orUnlimited(quota, (usd) => format.money(usd)),
      },
      {
        id: 'tokens',
        header: t('plan.tier.tokens'),
        isNumber: true,
        cell: ({ monthly_token_quota: quota }) => orUnlimited(quota, (all) => format.number(all)),
      },
      {
        id: 'rpm',
        header: t('plan.tier.rpm'),
        isNumber: true,
        cell: ({ rpm }) => orUnlimited(rpm, (limit) => format.number(limit)),
      },
    ];
  }, [t, format, plan.current_tier]);
  return (
    <section className="panel" aria-label={t('plan.tiers')}>
      <h2>{t('plan.tiers')}</h2>
      <DataTable
        label={t('plan.tiers')}
        columns={columns}
        rows={plan.tiers}
        rowId={({ name }) => name}
      />
    </section>
  );
}
