import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { TextField } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { localTime } from './key-settings.ts';

type Key = RpcResult<'keys.list'>[number];
type Period = NonNullable<Key['budget_period']>;

const PERIODS = ['day', 'week', 'month', 'total'] as const satisfies readonly Period[];

interface KeyLimitsProps {
  /** The key whose limits are changed; absent for a new one. */
  readonly current?: Key;
  /** What was thrown by the call that set them. */
  readonly error: unknown;
}

/** The fields for the limits of a key; each may stay empty. */
export function KeyLimits({ current, error }: KeyLimitsProps) {
  const { t } = useLanguage();
  const { fields } = problemOf(error);
  const [period, setPeriod] = useState<Period>(current?.budget_period ?? 'month');
  // An entry of a list has a path such as `models.0`.
  const problem = (name: string): string | undefined =>
    fields[name] ?? Object.entries(fields).find(([path]) => path.startsWith(`${name}.`))?.[1];
  return (
    <>
      <TextField
        label={t('keys.expires')}
        name="expires_at"
        type="datetime-local"
        defaultValue={
          current === undefined || current.expires_at === null ? '' : localTime(current.expires_at)
        }
        problem={problem('expires_at')}
      />
      <div className="form-pair">
        <TextField
          label={t('keys.budget')}
          name="budget_usd"
          type="number"
          min={0}
          step="any"
          defaultValue={current?.budget_usd ?? ''}
          problem={problem('budget_usd')}
        />
        <Select
          label={t('keys.period')}
          value={period}
          choices={PERIODS.map((value) => ({ value, label: t(`keys.period.${value}`) }))}
          onChange={setPeriod}
        />
        <input type="hidden" name="budget_period" value={period} />
      </div>
      <div className="form-pair">
        <TextField
          label={t('keys.rpm')}
          name="rpm"
          type="number"
          min={1}
          defaultValue={current?.rpm ?? ''}
          problem={problem('rpm')}
        />
        <TextField
          label={t('keys.tpm')}
          name="tpm"
          type="number"
          min={1}
          defaultValue={current?.tpm ?? ''}
          problem={problem('tpm')}
        />
      </div>
      <TextField
        label={t('keys.models')}
        name="models"
        hint={t('keys.models.hint')}
        defaultValue={current?.models?.join(', ') ?? ''}
        problem={problem('models')}
      />
      <TextField
        label={t('keys.addresses')}
        name="addresses"
        hint={t('keys.addresses.hint')}
        defaultValue={current?.addresses?.join(', ') ?? ''}
        problem={problem('addresses')}
      />
    </>
  );
}
