import { useMemo } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { DataTable, type Column } from '../data-table.tsx';
import { formatValue, timeOf, type Plot } from './plot-options.ts';

/** The numbers of a chart. */
export function ChartTable({ title, plot }: { readonly title: string; readonly plot: Plot }) {
  const { t, format } = useLanguage();
  const rows = useMemo(() => plot.times.map((time, index) => ({ time, index })), [plot]);
  const columns = useMemo(
    (): readonly Column<(typeof rows)[number]>[] => [
      {
        id: 'time',
        header: t('usage.column.time'),
        cell: ({ index }) => timeOf(format, plot, index),
        sortBy: ({ time }) => time,
      },
      ...plot.series.map(({ name, values }, place) => ({
        id: String(place),
        header: name,
        isNumber: true,
        cell: ({ index }: (typeof rows)[number]) => {
          const value = values[index] ?? null;
          return value === null ? '–' : formatValue(format, plot.unit, value);
        },
        sortBy: ({ index }: (typeof rows)[number]) => values[index] ?? 0,
      })),
    ],
    [t, format, plot],
  );
  return (
    <div className="chart-table">
      <DataTable label={title} columns={columns} rows={rows} rowId={({ index }) => String(index)} />
    </div>
  );
}
