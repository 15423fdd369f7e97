import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { furtherPrices } from '../../spend/price-text.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge, Empty, Page, Skeleton } from '../../ui/page.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { priceSnippets } from './price-snippets.ts';

type Tier = RpcResult<'billing.plan'>['tiers'][number];
type Price = RpcResult<'billing.pricing.get'>['pricing'][number];
type VideoPrice = RpcResult<'billing.video.pricing.get'>['pricing'][number];

/** Tiers and prices. They are changed with the admin token only, so the page shows the calls that do it. */
export function PricesPage() {
  const { t } = useLanguage();
  const api = useApi();
  const plan = useQuery(api.query('billing.plan'));
  const prices = useQuery(api.query('billing.pricing.get'));
  const videos = useQuery(api.query('billing.video.pricing.get'));
  const error = plan.error ?? prices.error ?? videos.error;
  return (
    <Page title={t('prices.title')} intro={t('prices.intro')} isBusy={prices.isFetching}>
      <ErrorNote
        error={error}
        onRetry={() => void Promise.all([plan, prices, videos].map((query) => query.refetch()))}
      />
      {prices.isPending ? <Skeleton /> : null}
      {plan.data === undefined ? null : <TierTable tiers={plan.data.tiers} />}
      {prices.data === undefined ? null : <PriceTable prices={prices.data.pricing} />}
      {videos.data === undefined ? null : <VideoPrices prices={videos.data.pricing} />}
      <p>{t('prices.change')}</p>
      <Snippets snippets={priceSnippets(location.origin)} />
    </Page>
  );
}

function TierTable({ tiers }: { readonly tiers: readonly Tier[] }) {
  const { t, format } = useLanguage();
  const columns = useMemo((): readonly Column<Tier>[] => {
    const amount = (value: number | null, show: (value: number) => string): string =>
      value === null ? t('prices.unlimited') : show(value);
    return [
      { id: 'name', header: t('prices.tier'), cell: ({ name }) => name },
      {
        id: 'usd',
        header: t('prices.tier.usd'),
        isNumber: true,
        cell: ({ monthly_usd_quota: usd }) => amount(usd, (value) => format.money(value)),
      },
      {
        id: 'tokens',
        header: t('prices.tier.tokens'),
        isNumber: true,
        cell: ({ monthly_token_quota: tokens }) => amount(tokens, (value) => format.number(value)),
      },
      {
        id: 'rpm',
        header: t('prices.tier.rpm'),
        isNumber: true,
        cell: ({ rpm }) => amount(rpm, (value) => format.number(value)),
      },
    ];
  }, [t, format]);
  return (
    <section className="form" aria-labelledby="tiers">
      <h2 id="tiers">{t('prices.tiers')}</h2>
      <DataTable
        label={t('prices.tiers')}
        columns={columns}
        rows={tiers}
        rowId={({ name }) => name}
      />
    </section>
  );
}

function PriceTable({ prices }: { readonly prices: readonly Price[] }) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Price>[] => [
      {
        id: 'pattern',
        header: t('prices.pattern'),
        cell: ({ pattern }) => <code>{pattern}</code>,
        sortBy: ({ pattern }) => pattern,
      },
      {
        id: 'backend',
        header: t('prices.backend'),
        cell: ({ backend }) => backend ?? t('prices.backend.any'),
        sortBy: ({ backend = '' }) => backend,
      },
      {
        id: 'input',
        header: t('prices.input'),
        isNumber: true,
        cell: ({ input_per_million: usd }) => format.price(usd),
        sortBy: ({ input_per_million: usd }) => usd,
      },
      {
        id: 'output',
        header: t('prices.output'),
        isNumber: true,
        cell: ({ output_per_million: usd }) => format.price(usd),
        sortBy: ({ output_per_million: usd }) => usd,
      },
      {
        id: 'further',
        header: t('prices.further'),
        cell: (price) => (
          <ul className="plain-list">
            {furtherPrices(price, t, format).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        ),
      },
      {
        id: 'source',
        header: t('prices.source'),
        cell: ({ source }) => t(`prices.source.${source}`),
        sortBy: ({ source }) => source,
      },
    ],
    [t, format],
  );
  return (
    <section className="form" aria-labelledby="token-prices">
      <h2 id="token-prices">{t('prices.tokens')}</h2>
      <DataTable
        label={t('prices.tokens')}
        name="prices"
        columns={columns}
        rows={prices}
        rowId={(price) => JSON.stringify(price)}
      />
    </section>
  );
}

function VideoPrices({ prices }: { readonly prices: readonly VideoPrice[] }) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<VideoPrice>[] => [
      {
        id: 'model',
        header: t('prices.video.model'),
        cell: ({ model }) => <code>{model}</code>,
      },
      { id: 'mode', header: t('prices.video.mode'), cell: ({ mode }) => <code>{mode}</code> },
      {
        id: 'base',
        header: t('prices.video.base'),
        isNumber: true,
        cell: ({ base_price: usd }) => format.price(usd),
      },
      {
        id: 'second',
        header: t('prices.video.second'),
        isNumber: true,
        cell: ({ price_per_second: usd }) => format.price(usd),
      },
      {
        id: 'frame',
        header: t('prices.video.frame'),
        isNumber: true,
        cell: ({ price_per_frame: usd }) => format.price(usd),
      },
      {
        id: 'state',
        header: t('prices.video.state'),
        cell: ({ enabled }) => (
          <Badge state={enabled ? 'good' : 'neutral'}>
            {t(enabled ? 'prices.video.enabled' : 'prices.video.disabled')}
          </Badge>
        ),
      },
    ],
    [t, format],
  );
  return (
    <section className="form" aria-labelledby="video-prices">
      <h2 id="video-prices">{t('prices.video')}</h2>
      {prices.length === 0 ? (
        <Empty text={t('prices.video.none')} />
      ) : (
        <DataTable
          label={t('prices.video')}
          name="video"
          columns={columns}
          rows={prices}
          rowId={({ model }) => model}
        />
      )}
    </section>
  );
}
