import { ArrowDown, ArrowUp } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Select } from './select.tsx';
import { sortRows, type SortKey, type TableOrder } from './table-order.ts';
import { PAGE_ROWS, TablePages } from './table-pages.tsx';
import { useTableOrder } from './use-table-order.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** Names that people choose can be long: those are broken anywhere, so that the other columns keep their room. */
  readonly isName?: boolean;
  /** What the column is sorted by; without it, it is not sorted. */
  readonly sortBy?: (row: Row) => SortKey;
  /** Whether the header is only for screen readers, as for a column of buttons. */
  readonly isHeaderHidden?: boolean;
  /** Whether a phone leaves it out, because the row opens something that says it. */
  readonly isDetail?: boolean;
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
  const [order, setOrder] = useTableOrder(name);
  const keyOf = columns.find(({ id }) => id === order.sort?.column)?.sortBy;
  const sorted =
    order.sort === undefined || keyOf === undefined
      ? rows
      : sortRows(rows, keyOf, order.sort.isDescending);
  const page = Math.min(order.page, Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1));
  const sort = (column: string, isDescending: boolean): void =>
    setOrder({ sort: { column, isDescending }, page: 0 });
  return (
    <>
      {rows.length > 1 ? <OrderSelect columns={columns} order={order} onSort={sort} /> : null}
      <div className="table-frame">
        <table className="table" aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Header key={column.id} column={column} order={order} onSort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS).map((row) => (
              <TableRow key={rowId(row)} row={row} columns={columns} onClick={onRowClick} />
            ))}
          </tbody>
          {total === undefined ? null : (
            <tfoot>
              <TableRow row={total} columns={columns} />
            </tfoot>
          )}
        </table>
      </div>
      {rows.length <= PAGE_ROWS ? null : (
        <TablePages
          label={label}
          page={page}
          count={rows.length}
          onChange={(next) => setOrder({ ...order, page: next })}
        />
      )}
    </>
  );
}

interface OrderProps<Row> {
  readonly order: TableOrder;
  readonly onSort: (column: string, isDescending: boolean) => void;
  readonly columns: readonly Column<Row>[];
}

interface HeaderProps<Row> extends Omit<OrderProps<Row>, 'columns'> {
  readonly column: Column<Row>;
}

function Header<Row>({ column, order: { sort }, onSort }: HeaderProps<Row>) {
  const { t } = useLanguage();
  const { id, header, sortBy, isHeaderHidden = false } = column;
  const isSorted = sort?.column === id;
  const isDescending = isSorted && sort.isDescending;
  return (
    <th
      scope="col"
      className={classOf(column)}
      {...(isSorted ? { 'aria-sort': isDescending ? 'descending' : 'ascending' } : {})}
    >
      {sortBy === undefined ? (
        <span className={isHeaderHidden ? 'visually-hidden' : ''}>{header}</span>
      ) : (
        <button
          type="button"
          className="sort"
          title={t('table.sort', { column: header })}
          onClick={() => onSort(id, isSorted && !isDescending)}
        >
          {header}
          {isSorted ? <SortIcon isDescending={isDescending} /> : null}
        </button>
      )}
    </th>
  );
}

const SortIcon = ({ isDescending }: { readonly isDescending: boolean }) =>
  isDescending ? <ArrowDown aria-hidden size={12} /> : <ArrowUp aria-hidden size={12} />;

/** Where rows are cards and there are no headers. */
function OrderSelect<Row>({ columns, order: { sort }, onSort }: OrderProps<Row>) {
  const { t } = useLanguage();
  const sortable = columns.filter(({ sortBy }) => sortBy !== undefined);
  if (sortable.length === 0) return null;
  return (
    <div className="table-order">
      <Select
        label={t('table.sort_by')}
        value={sort?.column ?? ''}
        choices={[
          ...(sort === undefined ? [{ value: '', label: '–' }] : []),
          ...sortable.map(({ id, header }) => ({ value: id, label: header })),
        ]}
        onChange={(column) => onSort(column, false)}
      />
    </div>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly onClick?: ((row: Row) => void) | undefined;
}

function TableRow<Row>({ row, columns, onClick }: TableRowProps<Row>) {
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
      {columns.map((column) => (
        <td
          key={column.id}
          className={classOf(column)}
          data-label={column.isHeaderHidden === true ? '' : column.header}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Whether a click is for the row: links and buttons in it, and in its menu, do something of their own, and text may be selected. */
const isOnRowItself = ({ target, currentTarget }: MouseEvent): boolean =>
  target instanceof Element &&
  currentTarget.contains(target) &&
  target.closest('a, button, input, select, label') === null &&
  getSelection()?.isCollapsed !== false;

function classOf({ isNumber, isName, isHeaderHidden, isDetail }: Column<never>): string {
  const kind = isNumber === true ? 'number' : isName === true ? 'name' : '';
  return [
    isHeaderHidden === true ? 'actions' : kind,
    ...(isDetail === true ? ['detail'] : []),
  ].join(' ');
}
