import {
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

const compare = (one: string | number, other: string | number): number =>
  one === other ? 0 : one < other ? -1 : 1;

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** What the column is sorted by; without it, it is not sorted. */
  readonly sortBy?: (row: Row) => string | number;
  /** Whether the header is only for screen readers, as for a column of buttons. */
  readonly isHeaderHidden?: boolean;
}

interface DataTableProps<Row> {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  /** A last row that stays below the others, however they are sorted. */
  readonly total?: Row | undefined;
}

/** A table; at the width of a phone each row is a card. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, total } = props;
  const { t } = useLanguage();
  const definitions = useMemo(
    () =>
      columns.map(({ id, header, cell, sortBy, ...meta }): ColumnDef<typeof features, Row> => ({
        id,
        header,
        cell: ({ row }) => cell(row.original),
        ...(sortBy === undefined ? { enableSorting: false } : {}),
        accessorFn: sortBy ?? (() => ''),
        sortFn: (one, other, column) => compare(one.getValue(column), other.getValue(column)),
        meta,
      })),
    [columns],
  );
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({ features, columns: definitions, data, getRowId: rowId });
  const labelOf = (id: string): string => {
    const column = byId.get(id);
    return column?.isHeaderHidden === true ? '' : (column?.header ?? '');
  };
  const classOf = (id: string): string => (byId.get(id)?.isNumber === true ? 'number' : '');
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => {
                const sorted = header.column.getIsSorted();
                const column = byId.get(header.column.id);
                return (
                  <th
                    key={header.id}
                    scope="col"
                    className={classOf(header.column.id)}
                    {...(sorted === false
                      ? {}
                      : { 'aria-sort': sorted === 'asc' ? 'ascending' : 'descending' })}
                  >
                    {column?.sortBy === undefined ? (
                      <span className={column?.isHeaderHidden === true ? 'visually-hidden' : ''}>
                        {column?.header}
                      </span>
                    ) : (
                      <button
                        type="button"
                        className="sort"
                        title={t('table.sort', { column: column.header })}
                        onClick={header.column.getToggleSortingHandler()}
                      >
                        {column.header}
                        {sorted === 'asc' ? <ArrowUp aria-hidden size={12} /> : null}
                        {sorted === 'desc' ? <ArrowDown aria-hidden size={12} /> : null}
                      </button>
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getAllCells().map((cell) => (
                <td
                  key={cell.id}
                  className={classOf(cell.column.id)}
                  data-label={labelOf(cell.column.id)}
                >
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {total === undefined ? null : (
          <tfoot>
            <tr>
              {columns.map((column) => (
                <td key={column.id} className={classOf(column.id)} data-label={labelOf(column.id)}>
                  {column.cell(total)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
