/** By which column a table is sorted, and which of its pages is shown; 0 is the first. */
export interface TableOrder {
  readonly sort: { readonly column: string; readonly isDescending: boolean } | undefined;
  readonly page: number;
}

export type SortKey = string | number;

const DESCENDING = '-';

/** The order as it is in an address: `cost`, `-cost` or nothing, and pages from 1. */
export function orderOf(sort: unknown, page: unknown): TableOrder {
  const isDescending = typeof sort === 'string' && sort.startsWith(DESCENDING);
  const column = typeof sort === 'string' ? sort.slice(isDescending ? 1 : 0) : '';
  return {
    sort: column === '' ? undefined : { column, isDescending },
    page: typeof page === 'number' && Number.isInteger(page) && page > 1 ? page - 1 : 0,
  };
}

/** The values for an address; undefined where nothing was chosen. */
export function addressOf({ sort, page }: TableOrder): {
  readonly sort: string | undefined;
  readonly page: number | undefined;
} {
  return {
    sort: sort === undefined ? undefined : `${sort.isDescending ? DESCENDING : ''}${sort.column}`,
    page: page === 0 ? undefined : page + 1,
  };
}

/** Sorts rows by keys that are read once for each row. Rows with equal keys stay in their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => SortKey,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .toSorted((one, other) => sign * compare(one.key, other.key))
    .map(({ row }) => row);
}

const compare = (one: SortKey, other: SortKey): number =>
  one === other ? 0 : one < other ? -1 : 1;
