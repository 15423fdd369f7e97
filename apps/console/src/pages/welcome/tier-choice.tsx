import { useApi, useCall, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Select } from '../../ui/select.tsx';

/** The tier of the admin's own account: what it may use each month. */
export function TierChoice() {
  const { t, format } = useLanguage();
  const api = useApi();
  const { id } = useUser();
  const plan = useQuery(api.query('billing.plan'));
  const update = useCall('users.update', { changes: ['billing.plan', 'users.list'] });
  if (plan.data === undefined) return null;
  const { tiers, current_tier: current } = plan.data;
  const amount = (value: number | null, show: (value: number) => string): string =>
    value === null ? t('prices.unlimited') : show(value);
  return (
    <div className="field">
      <Select
        label={t('welcome.tier')}
        value={update.variables?.tier ?? current}
        choices={tiers.map((tier) => ({
          value: tier.name,
          label: tier.name,
          detail: () =>
            t('welcome.tier.limits', {
              usd: amount(tier.monthly_usd_quota, (usd) => format.money(usd)),
              tokens: amount(tier.monthly_token_quota, (count) => format.number(count)),
            }),
        }))}
        onChange={(tier) => update.mutate({ user_id: id, tier })}
      />
      <span className="field-hint">{t('welcome.tier.hint')}</span>
      <ErrorNote error={update.error} />
    </div>
  );
}
