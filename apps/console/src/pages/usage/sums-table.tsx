import { useMemo } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import type { Dimension, SpendSeries } from '../../spend/spend-series.ts';
import type { SpendGroup } from '../../spend/summary.ts';
import { useNames } from '../../spend/use-names.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';

interface SumsTableProps {
  readonly data: Pick<SpendSeries, 'groups' | 'total'>;
  readonly by: Dimension;
}

const TOTAL = 'total';
const NUMBERS = [
  'requests',
  'errors',
  'cancelled',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
] as const;

/** The sums of each group, and of all. */
export function SumsTable({ data, by }: SumsTableProps) {
  const { t, format } = useLanguage();
  const nameOf = useNames();
  const total = useMemo((): SpendGroup => ({ key: TOTAL, ...data.total }), [data.total]);
  const columns = useMemo(
    (): readonly Column<SpendGroup>[] => [
      {
        id: 'name',
        header: t(`spend.dimension.${by}`),
        isName: true,
        cell: (group) => (group === total ? t('spend.total') : nameOf(by, group.key, group.name)),
        sortBy: ({ key, name }) => nameOf(by, key, name).toLowerCase(),
      },
      ...NUMBERS.map((name) => ({
        id: name,
        header: t(`spend.column.${name}`),
        isNumber: true,
        cell: (group: SpendGroup) => format.number(group[name]),
        sortBy: (group: SpendGroup) => group[name],
      })),
      {
        id: 'cost',
        header: t('usage.column.cost'),
        isNumber: true,
        cell: ({ cost_usd: cost }) => format.money(cost),
        sortBy: ({ cost_usd: cost }) => cost,
      },
      {
        id: 'share',
        header: t('spend.column.share'),
        isNumber: true,
        cell: ({ cost_usd: cost }) =>
          total.cost_usd === 0 ? '–' : format.percent(cost / total.cost_usd),
      },
    ],
    [t, format, by, nameOf, total],
  );
  return (
    <DataTable
      label={t('usage.title')}
      name="sums"
      columns={columns}
      rows={data.groups}
      rowId={({ key }) => key ?? ''}
      total={total}
    />
  );
}
