import './prices.css';
import { getRouteApi } from '@tanstack/react-router';
import type { ModelEntry, RpcResult } from '@model-gateway/contracts';
import { useCallback, useMemo, useState } from 'react';
import { canChat, canEmbed, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { PriceForm, RemovePrice } from './price-form.tsx';
import { PriceTable } from './price-table.tsx';
import { TierTable, VideoPrices } from './tiers-and-videos.tsx';

const route = getRouteApi('/shell/prices');

type Price = RpcResult<'billing.pricing.get'>['pricing'][number];

const NEW = { pattern: '' };
const UNPRICED_MAX = 20;

/** Tiers and prices, and a form to set the price of a model. */
export function PricesPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { model: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const plan = useQuery(api.query('billing.plan'));
  const prices = useQuery(api.query('billing.pricing.get'));
  const videos = useQuery(api.query('billing.video.pricing.get'));
  const models = useQuery(modelsQuery(api));
  const [setting, setSetting] = useState<Pick<Price, 'pattern'> & Partial<Price>>();
  const [isNew, setNew] = useCreating();
  const [removing, setRemoving] = useState<Price>();
  const unpriced = useMemo(() => withoutPrice(models.data ?? []), [models.data]);
  const change = useCallback((price: Price) => setSetting(price), []);
  const error = plan.error ?? prices.error ?? videos.error ?? models.error;
  const asked = wanted === undefined ? undefined : { pattern: wanted };
  const open = setting ?? asked ?? (isNew ? NEW : undefined);
  const close = (): void => {
    setSetting(undefined);
    setNew(false);
    if (wanted !== undefined) void navigate({ search: {}, replace: true });
  };
  return (
    <Page
      title={t('prices.title')}
      intro={t('prices.intro')}
      isBusy={prices.isFetching}
      actions={
        <Button kind="primary" onClick={() => setNew(true)}>
          {t('prices.set')}
        </Button>
      }
    >
      <ErrorNote
        error={error}
        onRetry={() =>
          void Promise.all([plan, prices, videos, models].map((query) => query.refetch()))
        }
      />
      {prices.isPending ? <Skeleton /> : null}
      <Unpriced models={unpriced} onSet={(pattern) => setSetting({ pattern })} />
      {plan.data === undefined ? null : <TierTable tiers={plan.data.tiers} />}
      {prices.data === undefined ? null : (
        <PriceTable prices={prices.data.pricing} onSet={change} onRemove={setRemoving} />
      )}
      {videos.data === undefined ? null : <VideoPrices prices={videos.data.pricing} />}
      {open === undefined ? null : <PriceForm price={open} models={unpriced} onClose={close} />}
      {removing === undefined ? null : (
        <RemovePrice price={removing} onClose={() => setRemoving(undefined)} />
      )}
    </Page>
  );
}

interface UnpricedProps {
  readonly models: readonly string[];
  readonly onSet: (model: string) => void;
}

/** The models that cost nothing because they have no price. */
function Unpriced({ models, onSet }: UnpricedProps) {
  const { t } = useLanguage();
  if (models.length === 0) return null;
  return (
    <section className="form" aria-labelledby="unpriced">
      <h2 id="unpriced">{t('prices.unpriced')}</h2>
      <p className="page-intro">{t('prices.unpriced.text')}</p>
      <ul className="plain-list prices-unpriced">
        {models.slice(0, UNPRICED_MAX).map((model) => (
          <li key={model}>
            <code>{model}</code>
            <Button aria-label={`${t('prices.set')}: ${model}`} onClick={() => onSet(model)}>
              {t('prices.set')}
            </Button>
          </li>
        ))}
        {models.length > UNPRICED_MAX ? (
          <li>{t('state.more', { count: models.length - UNPRICED_MAX })}</li>
        ) : null}
      </ul>
    </section>
  );
}

const withoutPrice = (models: readonly ModelEntry[]): readonly string[] =>
  models
    .filter((model) => model.pricing === undefined && (canChat(model) || canEmbed(model)))
    .map(({ id }) => id);
