import { isListMethod, listAll } from './list-all.ts';

const groups = Array.from({ length: 2_500 }, (_, index) => ({ id: String(index) }));

test('a list is read page by page', async () => {
  const asked: unknown[] = [];
  const all = await listAll(
    async (_method: 'group.list', params) => {
      asked.push(params);
      const start = Number(params.after ?? -1) + 1;
      return groups.slice(start, start + 1_000) as never;
    },
    'group.list',
    {},
  );
  expect(all).toEqual(groups);
  expect(asked).toEqual([
    { limit: 1_000 },
    { after: '999', limit: 1_000 },
    { after: '1999', limit: 1_000 },
  ]);
});

test('only methods that answer a bare array are lists', () => {
  expect(isListMethod('keys.list')).toBe(true);
  expect(isListMethod('users.list')).toBe(false);
});
