import { pageSearch, textSearch, wordOf } from './page-search.ts';

const merged = (
  read: (search: Readonly<Record<string, unknown>>) => object,
  search: Readonly<Record<string, unknown>>,
): object => ({ ...search, ...read(search) });

test('what is invalid in an address is overwritten, and what belongs to others is left alone', () => {
  const read = pageSearch<{ readonly by?: 'model' }>({ by: undefined }, ({ by }) =>
    by === 'model' ? { by } : {},
  );
  expect(merged(read, { by: 'nothing', keys_page: 2 })).toEqual({ by: undefined, keys_page: 2 });
  expect(merged(read, { by: 'model' })).toEqual({ by: 'model' });
});

test('texts that are empty, and what is no text, are overwritten', () => {
  const read = textSearch('model', 'find');
  expect(merged(read, { model: 'a', find: '', keys_page: 2 })).toEqual({
    model: 'a',
    find: undefined,
    keys_page: 2,
  });
  expect(merged(read, { model: 7 })).toEqual({ model: undefined, find: undefined });
});

test('a word that is none of the known ones is left out', () => {
  expect(wordOf(['model', 'key'], 'key')).toBe('key');
  expect(wordOf(['model', 'key'], 'other')).toBeUndefined();
});
