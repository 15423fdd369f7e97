import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';
import { priceParams } from './price-params.ts';

type Price = RpcResult<'billing.pricing.get'>['pricing'][number];

const CHANGES = ['billing.pricing.get', 'billing.pricing.explain', ...ROUTING_QUERIES] as const;
const FIELDS = [
  { name: 'input_per_million', isRequired: true },
  { name: 'output_per_million', isRequired: true },
  { name: 'cached_input_per_million', isRequired: false },
] as const;

interface PriceFormProps {
  /** A price that is changed, or only the models that a new one is for. */
  readonly price: Pick<Price, 'pattern'> & Partial<Price>;
  /** Models that have no price, as suggestions. */
  readonly models: readonly string[];
  readonly onClose: () => void;
}

/** Sets the price of one or several models. */
export function PriceForm({ price, models, onClose }: PriceFormProps) {
  const { t } = useLanguage();
  const api = useApi();
  const backends = useQuery(api.query('backends.list')).data;
  const set = useCall('billing.pricing.set', { changes: CHANGES });
  const { fields } = problemOf(set.error);
  const modelNames = useMemo(() => models.map((value) => ({ value })), [models]);
  const backendNames = useMemo(
    () => (backends ?? []).map(({ name }) => ({ value: name })),
    [backends],
  );
  return (
    <Dialog isOpen onClose={onClose} title={t('prices.set')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          set.mutate(priceParams(new FormData(event.currentTarget), price), { onSuccess: onClose });
        }}
      >
        <SuggestField
          label={t('prices.pattern')}
          name="pattern"
          defaultValue={price.pattern}
          suggestions={modelNames}
          hint={t('prices.pattern.hint')}
          problem={fields['pattern']}
          required
        />
        <SuggestField
          label={t('prices.backend')}
          name="backend"
          defaultValue={price.backend ?? ''}
          suggestions={backendNames}
          hint={t('prices.backend.hint')}
          problem={fields['backend']}
        />
        {FIELDS.map(({ name, isRequired }) => (
          <TextField
            key={name}
            label={t(`prices.field.${name}`)}
            name={name}
            type="number"
            min={0}
            max={1_000_000}
            step="any"
            defaultValue={price[name] ?? ''}
            problem={fields[name]}
            required={isRequired}
          />
        ))}
        <ErrorNote error={set.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={set.isPending}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface RemovePriceProps {
  readonly price: Price;
  readonly onClose: () => void;
}

/** Removes a price that was set; a built-in or imported one for the same models holds again. */
export function RemovePrice({ price: { pattern, backend }, onClose }: RemovePriceProps) {
  const { t } = useLanguage();
  const set = useCall('billing.pricing.set', { changes: CHANGES });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('prices.remove.title', { pattern })}
      text={t('prices.remove.text')}
      action={t('aliases.remove')}
      isPending={set.isPending}
      error={set.error}
      onConfirm={() =>
        set.mutate(
          {
            pattern,
            ...(backend === undefined ? {} : { backend }),
            input_per_million: null,
            output_per_million: null,
          },
          { onSuccess: onClose },
        )
      }
    />
  );
}
