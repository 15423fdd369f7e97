import { DELETED_KEY, GROUPS, KEYS, USERS } from './seeded-usage.ts';
import type { Bounds, RowFilter } from './rows-oracle.ts';
import type { UserName } from './usage-scene.ts';

/** Whose requests, and which of them: as a caller asks, and as conditions on the rows. */
export interface Question {
  readonly user?: UserName;
  readonly params: Readonly<Record<string, string>>;
  readonly rows: RowFilter;
}

/** Asked by the admin, of everybody's requests. */
export const ofAll = (filter: RowFilter): Question => ({
  params: { scope: 'all', ...given(filter) },
  rows: filter,
});

/** Each dimension alone, those that are asked together, and what matches nothing. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  all: ofAll({}),
  user: ofAll({ user_id: USERS.bob }),
  'deleted user': ofAll({ user_id: USERS.gone }),
  key: ofAll({ key_id: KEYS.catLab.keyId }),
  'deleted key': ofAll({ key_id: DELETED_KEY }),
  group: ofAll({ group_id: GROUPS.shop }),
  project: ofAll({ project: 'default' }),
  model: ofAll({ model: 'ärger' }),
  'model that nobody has': ofAll({ model: 'invented-1' }),
  upstream: ofAll({ upstream: 'one' }),
  'user and model': ofAll({ user_id: USERS.cat, model: 'gpt-4o' }),
  'user and group': ofAll({ user_id: USERS.cat, group_id: GROUPS.lab }),
  'user and project': ofAll({ user_id: USERS.dan, project: 'shop' }),
  'key and model': ofAll({ key_id: KEYS.bob.keyId, model: 'demo-chat' }),
  'group and model': ofAll({ group_id: GROUPS.lab, model: 'llama:8b' }),
  'group and project': ofAll({ group_id: GROUPS.shop, project: 'shop' }),
  'group and upstream': ofAll({ group_id: GROUPS.shop, upstream: 'west' }),
  'project and model': ofAll({ project: 'shop', model: 'gpt-4o' }),
  'project and upstream': ofAll({ project: 'ärger', upstream: 'two' }),
  'model and upstream': ofAll({ model: 'gpt-4o', upstream: 'two' }),
  'their own': { user: 'cat', params: {}, rows: { user_id: USERS.cat } },
  'their group': {
    user: 'bob',
    params: { scope: 'group', group_id: GROUPS.shop },
    rows: { group_id: GROUPS.shop },
  },
};

/** As it is asked, and the moments that it means. */
export const RANGES: Readonly<Record<string, { readonly asked: Range; readonly meant: Bounds }>> = {
  'by default': { asked: {}, meant: bounds('2025-03-04', '2025-04-03') },
  'three months': {
    asked: { from: '2025-01-01', to: '2025-04-02' },
    meant: bounds('2025-01-01', '2025-04-03'),
  },
  'a month': {
    asked: { from: '2025-02-01', to: '2025-02-28' },
    meant: bounds('2025-02-01', '2025-03-01'),
  },
  'a day': {
    asked: { from: '2025-02-28', to: '2025-02-28' },
    meant: bounds('2025-02-28', '2025-03-01'),
  },
  'the turn of a month': exactly('2025-01-31T23:00:00.000Z', '2025-02-01T01:00:00.000Z'),
  'the first millisecond of a month': exactly(
    '2025-03-01T00:00:00.000Z',
    '2025-03-01T00:00:00.001Z',
  ),
  'hours of a day': exactly('2025-03-01T05:00:00.000Z', '2025-03-01T17:00:00.000Z'),
  'between two moments': exactly('2025-01-30T13:37:11.500Z', '2025-03-02T04:20:59.999Z'),
  'the last 24 hours': {
    asked: { from: '2025-04-01T10:40:07.250Z' },
    meant: bounds('2025-04-01T10:40:07.250Z', '2025-04-02T10:40:07.250Z'),
  },
  'days until now': {
    asked: { from: '2025-03-27T10:40:07.250Z', to: '2025-04-02T10:40:07.250Z' },
    meant: bounds('2025-03-27T10:40:07.250Z', '2025-04-02T10:40:07.250Z'),
  },
  'into the future': {
    asked: { from: '2025-03-15', to: '2025-05-01' },
    meant: bounds('2025-03-15', '2025-05-02'),
  },
  'days of another clock': {
    asked: { from: '2025-02-01T00:00:00+05:30', to: '2025-02-15T00:00:00+05:30' },
    meant: bounds('2025-01-31T18:30:00.000Z', '2025-02-14T18:30:00.000Z'),
  },
};

interface Range {
  readonly from?: string;
  readonly to?: string;
}

/** The moments that each range means. */
export const MEANT = Object.fromEntries(
  Object.entries(RANGES).map(([name, { meant }]) => [name, meant]),
);

/** Days begin in UTC. */
function bounds(since: string, until: string): Bounds {
  const moment = (text: string): string => (text.includes('T') ? text : `${text}T00:00:00.000Z`);
  return { since: moment(since), until: moment(until) };
}

function exactly(since: string, until: string) {
  return { asked: { from: since, to: until }, meant: { since, until } };
}

function given(filter: RowFilter): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
