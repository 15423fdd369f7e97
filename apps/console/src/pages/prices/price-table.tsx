import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { furtherPrices } from '../../spend/price-text.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { FromFile } from '../../ui/from-file.tsx';

type Price = RpcResult<'billing.pricing.get'>['pricing'][number];

interface PriceTableProps {
  readonly prices: readonly Price[];
  readonly onSet: (price: Price) => void;
  readonly onRemove: (price: Price) => void;
}

/** Every price of tokens. */
export function PriceTable({ prices, onSet, onRemove }: PriceTableProps) {
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
      {
        id: 'actions',
        header: t('routes.column.actions'),
        isHeaderHidden: true,
        cell: (price) => <PriceActions price={price} onSet={onSet} onRemove={onRemove} />,
      },
    ],
    [t, format, onSet, onRemove],
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

interface PriceActionsProps extends Omit<PriceTableProps, 'prices'> {
  readonly price: Price;
}

function PriceActions({ price, onSet, onRemove }: PriceActionsProps) {
  const { t } = useLanguage();
  const { pattern, source } = price;
  if (source === 'file') return <FromFile />;
  return (
    <div className="card-actions">
      <Button aria-label={t('prices.change.of', { pattern })} onClick={() => onSet(price)}>
        {t('keys.edit')}
      </Button>
      {source === 'override' ? (
        <Button aria-label={t('prices.remove.of', { pattern })} onClick={() => onRemove(price)}>
          {t('aliases.remove')}
        </Button>
      ) : null}
    </div>
  );
}
