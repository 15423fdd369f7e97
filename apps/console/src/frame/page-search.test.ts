import { pageSearch } from './page-search.ts';

test('what is invalid in an address is overwritten, and what belongs to others is left alone', () => {
  const read = pageSearch<{ readonly by?: 'model' }>({ by: undefined }, ({ by }) =>
    by === 'model' ? { by } : {},
  );
  const merged = (search: Readonly<Record<string, unknown>>): object => ({
    ...search,
    ...read(search),
  });
  expect(merged({ by: 'nothing', keys_page: 2 })).toEqual({ by: undefined, keys_page: 2 });
  expect(merged({ by: 'model' })).toEqual({ by: 'model' });
});
