import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';

type Tier = RpcResult<'billing.plan'>['tiers'][number];
type VideoPrice = RpcResult<'billing.video.pricing.get'>['pricing'][number];

/** What each tier includes. */
export function TierTable({ tiers }: { readonly tiers: readonly Tier[] }) {
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

/** What videos cost. */
export function VideoPrices({ prices }: { readonly prices: readonly VideoPrice[] }) {
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
