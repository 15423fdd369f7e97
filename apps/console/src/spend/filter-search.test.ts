import { filterParams, filterSearch } from './filter-search.ts';

const ID = '7b1f3f0e-2a9b-4a54-9a4e-3f1f3a0b8c11';

test('an address gives only filters that are valid', () => {
  expect(
    filterSearch({ scope: 'all', model: 'demo', key_id: 'nonsense', project: '', upstream: 5 }),
  ).toEqual({ scope: 'all', model: 'demo' });
  expect(filterSearch({ scope: ID, key_id: ID })).toEqual({ scope: ID, key_id: ID });
  expect(filterSearch({ scope: 'everything' })).toEqual({});
});

test.each([
  { why: 'the default of the page', search: {}, isAdmin: true, params: { scope: 'all' } },
  { why: 'not an admin', search: {}, isAdmin: false, params: { scope: 'self' } },
  { why: 'a chosen scope', search: { scope: 'self' }, isAdmin: true, params: { scope: 'self' } },
  {
    why: 'a group',
    search: { scope: ID, model: 'demo' },
    isAdmin: false,
    params: { scope: 'group', group_id: ID, model: 'demo' },
  },
  {
    why: 'one user among all',
    search: { user_id: ID },
    isAdmin: true,
    params: { scope: 'all', user_id: ID },
  },
  {
    why: 'a user within the own requests',
    search: { scope: 'self', user_id: ID },
    isAdmin: true,
    params: { scope: 'self' },
  },
])('$why', ({ search, isAdmin, params }) => {
  expect(filterParams(search, 'all', isAdmin)).toEqual(params);
});
