import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { addressOf, orderOf, type TableOrder } from './table-order.ts';
import { useAddressText } from './use-address-text.ts';

/** The order of a table, which is in the address under the name of the table; a table without one keeps it to itself. */
export function useTableOrder(
  name: string | undefined,
): readonly [TableOrder, (order: TableOrder) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const names = { sort: `${name}_sort`, page: `${name}_page` };
  const inAddress = textOf(orderOf(search[names.sort], search[names.page]));
  const write = async (next: string): Promise<void> => {
    if (name === undefined) return;
    const { sort, page } = addressOf(orderFrom(next));
    await navigate({
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
  const [text, setText] = useAddressText(inAddress, write);
  const order = useMemo(() => orderFrom(text), [text]);
  const change = useCallback((next: TableOrder) => setText(textOf(next)), [setText]);
  return [order, change];
}

const textOf = (order: TableOrder): string => JSON.stringify(addressOf(order));

function orderFrom(text: string): TableOrder {
  const { sort, page } = JSON.parse(text) as ReturnType<typeof addressOf>;
  return orderOf(sort, page);
}
