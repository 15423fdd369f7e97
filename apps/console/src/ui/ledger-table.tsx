import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { When } from './when.tsx';

type Ledger = RpcResult<'ledger.self'>;
type Entry = Ledger['entries'][number];

interface LedgerTableProps {
  readonly ledger: Ledger;
  /** What is said where nothing has moved yet. */
  readonly empty: string;
}

/** The points of a wallet or pool, and what moved them. */
export function LedgerTable({ ledger, empty }: LedgerTableProps) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Entry>[] => [
      {
        id: 'time',
        header: t('usage.column.time'),
        cell: ({ created_at: time }) => <When time={time} />,
        sortBy: ({ created_at: time }) => time,
      },
      { id: 'kind', header: t('ledger.kind'), cell: ({ kind }) => t(`ledger.kind.${kind}`) },
      { id: 'note', header: t('ledger.note'), cell: ({ note, ref }) => note ?? ref ?? '' },
      {
        id: 'delta',
        header: t('ledger.delta'),
        isNumber: true,
        cell: ({ delta }) => `${delta > 0 ? '+' : ''}${format.number(delta)}`,
        sortBy: ({ delta }) => delta,
      },
      {
        id: 'balance',
        header: t('ledger.balance'),
        isNumber: true,
        cell: ({ balance_after: balance }) => format.number(balance),
      },
    ],
    [t, format],
  );
  return (
    <>
      <p>
        {t('ledger.balance')}: <strong>{format.number(ledger.balance)}</strong>
      </p>
      {ledger.entries.length === 0 ? (
        <p className="page-intro">{empty}</p>
      ) : (
        <DataTable
          label={t('ledger.title')}
          name="ledger"
          columns={columns}
          rows={ledger.entries}
          rowId={({ id }) => id}
        />
      )}
    </>
  );
}
