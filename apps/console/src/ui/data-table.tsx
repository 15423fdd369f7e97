import {
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { memo, useMemo, type MouseEvent, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { PAGE_ROWS, TablePages } from './table-pages.tsx';
import { sortRows, type SortKey } from './table-order.ts';
import { useAfterPaint } from './use-after-paint.ts';
import { useRowSlots } from './row-slots.ts';
import { useTableOrder } from './use-table-order.ts';

const features = tableFeatures({ rowSortingFeature });

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** Without state of its own: elements of a row are used for another one. */
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** Names that people choose can be long: those are broken anywhere, so that the other columns keep their room. */
  readonly isName?: boolean;
  /** What the column is sorted by; without it, it is not sorted. */
  readonly sortBy?: (row: Row) => SortKey;
  /** Whether the header is only for screen readers, as for a column of buttons. */
  readonly isHeaderHidden?: boolean;
}

interface DataTableProps<Row> {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  /** Keeps its order and page in the address under this name, so that a link shows the same. */
  readonly name?: string;
  /** What a click anywhere on a row does; a button in it does the same, for the keyboard. */
  readonly onRowClick?: ((row: Row) => void) | undefined;
  /** A last row that stays below the others, however they are sorted. */
  readonly total?: Row | undefined;
}

/** A table; at the width of a phone each row is a card. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, name, total, onRowClick } = props;
  const { t } = useLanguage();
  const [order, setOrder] = useTableOrder(name);
  // Header and pager change at once; thousands of rows may follow a moment later.
  const shown = useAfterPaint(order);
  const sorted = useMemo(() => {
    const keyOf = columns.find(({ id }) => id === shown.sort?.column)?.sortBy;
    return shown.sort === undefined || keyOf === undefined
      ? rows
      : sortRows(rows, keyOf, shown.sort.isDescending);
  }, [columns, rows, shown.sort]);
  const lastPage = Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1);
  const start = Math.min(shown.page, lastPage) * PAGE_ROWS;
  const definitions = useMemo(
    () =>
      columns.map(({ id, header, sortBy }): ColumnDef<typeof features, Row> => ({
        id,
        header,
        enableSorting: sortBy !== undefined,
        accessorFn: sortBy ?? (() => ''),
      })),
    [columns],
  );
  // The rows of one page only: what the library does for each row would take long for ten thousand.
  const data = useMemo(() => sorted.slice(start, start + PAGE_ROWS), [sorted, start]);
  const sorting = useMemo(
    (): SortingState =>
      order.sort === undefined ? [] : [{ id: order.sort.column, desc: order.sort.isDescending }],
    [order.sort],
  );
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: rowId,
    manualSorting: true,
    state: { sorting },
    onSortingChange: (update) => {
      const [first] = typeof update === 'function' ? update(sorting) : update;
      const sort = first === undefined ? undefined : { column: first.id, isDescending: first.desc };
      setOrder({ sort, page: 0 });
    },
  });
  const slots = useRowSlots(data.map(rowId));
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const content = (
    <div className="table-frame" aria-busy={shown !== order}>
      <table className="table" aria-label={label}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} data-label={t('table.sort_by')}>
              {group.headers.map((header) => {
                const column = byId.get(header.column.id);
                const direction = header.column.getIsSorted();
                return (
                  <th
                    key={header.id}
                    scope="col"
                    className={classOf(column)}
                    {...(direction === false
                      ? {}
                      : { 'aria-sort': direction === 'asc' ? 'ascending' : 'descending' })}
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
                        {direction === 'asc' ? <ArrowUp aria-hidden size={12} /> : null}
                        {direction === 'desc' ? <ArrowDown aria-hidden size={12} /> : null}
                      </button>
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map(({ original }, place) => (
            <TableRow key={slots[place]} row={original} columns={columns} onClick={onRowClick} />
          ))}
        </tbody>
        {total === undefined ? null : (
          <tfoot>
            <TableRow row={total} columns={columns} />
          </tfoot>
        )}
      </table>
    </div>
  );
  if (rows.length <= PAGE_ROWS) return content;
  return (
    <>
      {content}
      <TablePages
        label={label}
        page={Math.min(order.page, lastPage)}
        count={rows.length}
        onChange={(page) => setOrder({ ...order, page })}
      />
    </>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly onClick?: ((row: Row) => void) | undefined;
}

const TableRow = memo(function TableRow<Row>({ row, columns, onClick }: TableRowProps<Row>) {
  return (
    <tr
      {...(onClick === undefined
        ? {}
        : {
            className: 'row-opens',
            onClick: (event: MouseEvent) => {
              if (isOnRowItself(event)) onClick(row);
            },
          })}
    >
      {columns.map((column) => {
        const content = column.cell(row);
        return (
          <td
            key={column.id}
            className={isShortName(column, content) ? 'name name-short' : classOf(column)}
            data-label={column.isHeaderHidden === true ? '' : column.header}
          >
            {content}
          </td>
        );
      })}
    </tr>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;

/** Whether a click is for the row: links and buttons in it do something of their own, and text may be selected. */
const isOnRowItself = ({ target }: MouseEvent): boolean =>
  target instanceof Element &&
  target.closest('a, button, input, select, label') === null &&
  getSelection()?.isCollapsed !== false;

/** A name with at most so many characters stays in one line. */
const SHORT_NAME_CHARS_MAX = 18;

const isShortName = ({ isName }: Pick<Column<never>, 'isName'>, content: ReactNode): boolean =>
  isName === true && typeof content === 'string' && content.length <= SHORT_NAME_CHARS_MAX;

function classOf(
  column: Pick<Column<never>, 'isNumber' | 'isName' | 'isHeaderHidden'> | undefined,
): string {
  if (column?.isNumber === true) return 'number';
  if (column?.isName === true) return 'name';
  return column?.isHeaderHidden === true ? 'actions' : '';
}
