import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { addressOf, orderOf, type TableOrder } from './table-order.ts';

/** The order of a table, which is in the address under the name of the table; a table without one keeps it to itself. */
export function useTableOrder(
  name: string | undefined,
): readonly [TableOrder, (order: TableOrder) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const [own, setOwn] = useState(() => orderOf(undefined, undefined));
  if (name === undefined) return [own, setOwn];
  const names = { sort: `${name}_sort`, page: `${name}_page` };
  const change = (order: TableOrder): void => {
    const { sort, page } = addressOf(order);
    void navigate({
      to: '.',
      search: (all: object) =>
        Object.fromEntries(
          Object.entries({ ...all, [names.sort]: sort, [names.page]: page }).filter(
            ([, value]) => value !== undefined,
          ),
        ),
      replace: true,
    } as never);
  };
  return [orderOf(search[names.sort], search[names.page]), change];
}
