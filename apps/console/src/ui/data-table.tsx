import {
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

/** More rows than these are on further pages, so that thousands do not slow the page down. */
const PAGE_ROWS = 100;

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
  const [wantedPage, setPage] = useState(0);
  const page = Math.min(wantedPage, Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1));
  const start = page * PAGE_ROWS;
  const sort = (toggle: ((event: unknown) => void) | undefined, event: unknown): void => {
    setPage(0);
    toggle?.(event);
  };
  const content = (
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
                        onClick={(event) => sort(header.column.getToggleSortingHandler(), event)}
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
          {table
            .getRowModel()
            .rows.slice(start, start + PAGE_ROWS)
            .map((row) => (
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
  if (rows.length <= PAGE_ROWS) return content;
  return (
    <>
      {content}
      <TablePages label={label} page={page} count={rows.length} onChange={setPage} />
    </>
  );
}

interface TablePagesProps {
  readonly label: string;
  /** 0 is the first. */
  readonly page: number;
  /** How many rows there are on all pages. */
  readonly count: number;
  readonly onChange: (page: number) => void;
}

function TablePages({ label, page, count, onChange }: TablePagesProps) {
  const { t } = useLanguage();
  const to = Math.min(count, (page + 1) * PAGE_ROWS);
  return (
    <nav className="pager" aria-label={t('table.pages', { table: label })}>
      <span role="status">{t('table.page', { from: page * PAGE_ROWS + 1, to, total: count })}</span>
      <Button disabled={page === 0} onClick={() => onChange(page - 1)}>
        {t('table.previous')}
      </Button>
      <Button disabled={to === count} onClick={() => onChange(page + 1)}>
        {t('table.next')}
      </Button>
    </nav>
  );
}
