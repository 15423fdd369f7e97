import { expectRecorded } from '@model-gateway/testkit';
import {
  costsOfKeys,
  nameOf,
  plansOfRows,
  requestsOfRows,
  SPEND_GROUPINGS,
  summariesOfRows,
  USAGE_GROUPINGS_ALL,
  usageIdsOfRows,
  usageOfRows,
  type ListFilter,
  type SpendGrouping,
  type Summary,
} from './rows-oracle.ts';
import { GROUPS, KEYS, NOW, USERS } from './seeded-usage.ts';
import { MEANT, ofAll, QUESTIONS, RANGES, type Question } from './spend-questions.ts';
import { openUsageScene, type UserName, type UsageScene } from './usage-scene.ts';

// What the service answers about usage, by three accounts that must agree: its own, the one that is recorded beside this test, and
// one that is made from the rows in plain SQL. `TEST_RECORD=1 npm test -- apps/standalone/tests/records` records the answers anew.

let scene: UsageScene;

beforeAll(async () => {
  scene = await openUsageScene();
});
afterAll(() => scene.close());

const recorded = (name: string): URL => new URL(`recorded/${name}.jsonl`, import.meta.url);

/** How many questions are asked at once. */
const AT_ONCE = 4;

/** Asks all of them, a few at a time, and answers in their order. */
async function askAll<Asked, Answer>(
  questions: readonly Asked[],
  ask: (question: Asked) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const waiting = [...questions.entries()];
  const askNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      answers[next[0]] = await ask(next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askNext));
  return answers;
}

interface SummaryAnswer extends Summary {
  readonly from: string;
  readonly to: string;
}

async function summariesOf({ params, user }: Question, range: object) {
  const calls = SPEND_GROUPINGS.map((by) => ({
    method: 'usage.summary',
    params: { ...params, ...range, group_by: by },
  }));
  const answers = (await scene.call(calls, user)) as readonly SummaryAnswer[];
  return new Map(SPEND_GROUPINGS.map((by, index) => [by, answers[index]]));
}

test('the sums of every grouping, filter and range are those of the rows', async () => {
  const answers = await askAll(Object.entries(QUESTIONS), async ([name, question]) => {
    const expected = await summariesOfRows(scene.query, question.rows, MEANT);
    const found: [string, unknown][] = [];
    for (const [range, { asked }] of Object.entries(RANGES)) {
      for (const [by, answer] of await summariesOf(question, asked)) {
        const summary = expected.get(nameOf(range, by));
        expect({ name, range, by, ...unnamed(answer) }).toEqual({ name, range, by, ...summary });
        found.push([`${name}, ${nameOf(range, by)}`, answer]);
      }
    }
    return found;
  });
  await expectRecorded(recorded('usage-summary'), new Map(answers.flat()), {
    isReadable: (name) => name.startsWith('all, a month, by') && !name.endsWith('by hour'),
  });
});

/** Without the names of users, keys and groups, which are not summed. */
const unnamed = (answer: SummaryAnswer | undefined) => ({
  groups: answer?.groups.map(({ name: _name, ...group }) => group),
  total: answer?.total,
});

const OF_FILES = ['all', 'user', 'group', 'project and model', 'their own', 'their group'];

test('the files for spreadsheets have the sums of the rows', async () => {
  const files = await askAll(OF_FILES, async (name) => {
    const { params, user, rows } = QUESTIONS[name] ?? ofAll({});
    const expected = await summariesOfRows(scene.query, rows, MEANT);
    const found: [string, string][] = [];
    for (const range of ['by default', 'between two moments', 'a month']) {
      for (const by of SPEND_GROUPINGS) {
        const { asked } = RANGES[range] ?? {};
        const text = await scene.usageCsv({ ...params, ...asked, group_by: by }, user);
        const summary = expected.get(nameOf(range, by));
        const lines = expectedLines(text, by, summary);
        expect({ name, range, lines: linesOf(text) }).toEqual({ name, range, lines });
        found.push([`${name}, ${nameOf(range, by)}`, text]);
      }
    }
    return found;
  });
  await expectRecorded(recorded('usage-csv'), new Map(files.flat()), {
    isReadable: (name) => name === 'all, a month, by model',
  });
});

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\r\n');

/** The lines of a file with the columns that it has. */
function expectedLines(text: string, by: SpendGrouping, summary: Summary | undefined) {
  const [header = ''] = linesOf(text);
  const [, ...columns] = header.split(',');
  const line = (key: unknown, sums: Readonly<Record<string, unknown>>): string =>
    [key ?? '', ...columns.map((column) => sums[column])].join(',');
  const groups = summary?.groups.map(({ key, ...sums }) => line(key, sums)) ?? [];
  return [[by, ...columns].join(','), ...groups, line('total', summary?.total ?? {})];
}

const REFS: readonly (readonly string[])[] = [
  [],
  ['order-1'],
  ['order-2', '100%', 'ärger'],
  ['order-1', 'missing'],
  ['missing'],
];
const USAGE_PAGES = [
  undefined,
  { limit: 500, offset: 0 },
  { limit: 50, offset: 0 },
  { limit: 50, offset: 50 },
  { limit: 7, offset: 333 },
  { limit: 10, offset: 5_000 },
] as const;

interface UsageAnswer {
  readonly totals: unknown;
  readonly groups?: readonly unknown[];
  readonly records?: readonly { readonly id: string }[];
}

test('the usage that the admin API sums and lists is that of the rows', async () => {
  const answers = await askAll(REFS, async (refs) => {
    const expectedFor = await usageOfRows(scene.query, refs, MEANT);
    const found: [string, unknown][] = [];
    for (const [range, { asked, meant }] of Object.entries(RANGES)) {
      for (const by of [undefined, ...USAGE_GROUPINGS_ALL]) {
        const page = USAGE_PAGES[found.length % USAGE_PAGES.length];
        const { totals, groups, records } = (await scene.usageQuery({
          ref_ids: refs,
          since: asked.from ?? meant.since,
          until: asked.to ?? meant.until,
          group_by: by ?? null,
          ...(page === undefined ? {} : { include_records: true, ...page }),
        })) as UsageAnswer;
        const name = JSON.stringify({ refs, range, by, page });
        const { ids, ...sums } = expectedFor(range, by);
        const shown = page && ids.slice(page.offset, page.offset + page.limit);
        const answer = { totals, groups, ids: records?.map(({ id }) => id) };
        expect({ name, ...answer }).toEqual({ name, ...sums, ids: shown });
        found.push([name, { totals, groups, records }]);
      }
    }
    return found;
  });
  await expectRecorded(recorded('usage-query'), new Map(answers.flat()), { charsMax: 120 });
});

interface ListQuestion {
  readonly user?: UserName;
  readonly params: Readonly<Record<string, string | number>>;
  readonly rows: ListFilter;
  readonly limit: number;
}

const listOf = (rows: ListFilter, limit = 97): ListQuestion => {
  const { since, until, ...rest } = rows;
  const range = { ...(since && { from: since }), ...(until && { to: until }) };
  return { params: { ...(rest as Record<string, string | number>), ...range }, rows, limit };
};
const FEBRUARY = { since: '2025-01-31T23:00:00.000Z', until: '2025-03-01T00:00:00.001Z' };

const LISTS: Readonly<Record<string, ListQuestion>> = {
  all: listOf({}, 200),
  'all, small pages': listOf({}, 23),
  'a month': listOf(FEBRUARY, 50),
  'before a moment': listOf({ until: '2025-01-20T00:00:00.000Z' }, 10),
  'since a moment': listOf({ since: '2025-04-01T10:40:07.250Z' }, 200),
  served: listOf({ status: 'ok' }, 200),
  errors: listOf({ status: 'error' }, 50),
  'clients that left': listOf({ status: 499 }),
  'stopped by clients': listOf({ status: 'cancelled' }, 40),
  'old rows have no status': listOf({ status: 200 }, 200),
  'refused by a limit': listOf({ status: 429 }, 10),
  'left, by code': listOf({ error_code: 'client_left' }),
  'upstream failed, by code': listOf({ error_code: 'bad_gateway' }, 20),
  'unknown model, by code': listOf({ error_code: 'model_not_found' }, 5),
  'overloaded, by code, of a user': listOf({ error_code: 'overloaded', user_id: USERS.bob }, 3),
  'of a client': listOf({ request_id: 'client-7' }, 3),
  'of an id': listOf({ request_id: '00000000-0000-4000-8000-e00000000011' }),
  user: listOf({ user_id: USERS.bob }, 31),
  'user and errors': listOf({ user_id: USERS.cat, status: 'error' }, 7),
  key: listOf({ key_id: KEYS.catLab.keyId }, 9),
  'key and errors': listOf({ key_id: KEYS.bob.keyId, status: 'error' }, 4),
  'key in a month': listOf({ key_id: KEYS.dan.keyId, ...FEBRUARY }, 6),
  'key and model': listOf({ key_id: KEYS.cat.keyId, model: 'gpt-4o' }, 2),
  group: listOf({ group_id: GROUPS.shop }, 41),
  'group and model': listOf({ group_id: GROUPS.shop, model: 'ärger' }, 8),
  'group and upstream': listOf({ group_id: GROUPS.lab, upstream: 'west' }, 8),
  'group and project, served': listOf({ group_id: GROUPS.lab, project: 'default', status: 'ok' }),
  project: listOf({ project: 'shop' }, 60),
  model: listOf({ model: 'llama:8b' }, 60),
  'invented model': listOf({ model: 'invented-1' }, 2),
  upstream: listOf({ upstream: 'one' }, 60),
  'upstream in a month, errors': listOf({ upstream: 'two', status: 'error', ...FEBRUARY }, 5),
  'model and upstream': listOf({ model: 'gpt-4o', upstream: 'west' }, 11),
  nothing: listOf({ model: 'demo-chat', upstream: 'nowhere' }),
  'their own': { user: 'cat', params: {}, rows: { user_id: USERS.cat }, limit: 19 },
  'their group': {
    user: 'bob',
    params: { scope: 'group', group_id: GROUPS.shop },
    rows: { group_id: GROUPS.shop },
    limit: 28,
  },
};

interface ListPage {
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

async function allPages({ user, params, limit }: ListQuestion): Promise<readonly ListPage[]> {
  const pages: ListPage[] = [];
  for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.next_cursor) {
    const page = { limit, ...(cursor === undefined ? {} : { cursor }) };
    const [answer] = await scene.call(
      [{ method: 'requests.list', params: { ...params, ...page } }],
      user,
    );
    pages.push(answer as ListPage);
  }
  return pages;
}

test('all pages of a list of requests have the rows, once and in order', async () => {
  const lists = await askAll(Object.entries(LISTS), async ([name, question]) => {
    const pages = await allPages(question);
    const requests = pages.flatMap((page) => page.requests);
    const expected = await requestsOfRows(scene.query, question.rows);
    const columns = Object.keys(expected[0] ?? {});
    const shown = requests.map((each) =>
      Object.fromEntries(columns.map((column) => [column, each[column]])),
    );
    expect({ name, requests: shown }).toEqual({ name, requests: expected });
    expect(pages.slice(0, -1).map((page) => page.requests.length)).toEqual(
      pages.slice(1).map(() => question.limit),
    );
    return [name, { pages: pages.length, count: requests.length, requests }] as const;
  });
  await expectRecorded(recorded('requests-list'), new Map(lists), {
    isReadable: (name) => name === 'of a client',
  });
});

const MONTH_CHARS = 'YYYY-MM'.length;
const MOMENTS = [
  '2024-12-31T23:59:59.999Z',
  '2025-01-15T00:00:00.000Z',
  '2025-02-28T23:59:59.999Z',
  '2025-03-01T00:00:00.000Z',
  NOW.toISOString(),
  '2025-05-01T00:00:00.000Z',
];

test('the plan of a user has the usage of the month', async () => {
  const expected = await plansOfRows(scene.query);
  const nothing = { requests: 0, cost_usd: 0, tokens: 0 };
  const answers = new Map<string, unknown>();
  for (const moment of MOMENTS) {
    scene.clock.advance(Date.parse(moment) - scene.clock.now());
    for (const user of ['admin', 'bob', 'cat', 'dan', 'idle'] as const) {
      const [plan] = await scene.call([{ method: 'billing.plan', params: {} }], user);
      const { usage } = plan as { readonly usage: unknown };
      const ofRows = expected.get(nameOf(moment.slice(0, MONTH_CHARS), USERS[user])) ?? nothing;
      expect({ moment, user, usage }).toEqual({ moment, user, usage: ofRows });
      answers.set(`${user}, ${moment}`, plan);
    }
  }
  scene.clock.advance(NOW.getTime() - scene.clock.now());
  await expectRecorded(recorded('billing-plan'), answers, { charsMax: 2_000 });
});

/** Budgets, and the time since when they count; 31 March was a Monday. */
const BUDGETS = [
  { period: 'day', at: NOW.toISOString(), since: '2025-04-02' },
  { period: 'day', at: '2025-04-03T00:00:00.000Z', since: '2025-04-03' },
  { period: 'week', at: NOW.toISOString(), since: '2025-03-31' },
  { period: 'week', at: '2025-04-06T23:59:59.999Z', since: '2025-03-31' },
  { period: 'week', at: '2025-04-07T00:00:00.000Z', since: '2025-04-07' },
  { period: 'month', at: NOW.toISOString(), since: '2025-04-01' },
  { period: 'month', at: '2025-05-01T00:00:00.000Z', since: '2025-05-01' },
  { period: 'total', at: NOW.toISOString(), since: '2024-01-01' },
  { period: 'total', at: '2025-05-01T00:00:00.000Z', since: '2024-01-01' },
];
const HOLDERS = ['admin', 'bob', 'cat', 'dan'] as const;

interface ListedKey {
  readonly id: string;
  readonly budget_used_usd: number;
  readonly budget_resets_at: string | null;
}

test('the budget of a key has used what its rows cost in the period, also from before it was set', async () => {
  const answers = new Map<string, unknown>();
  for (const { period, at, since } of BUDGETS) {
    scene.clock.advance(Date.parse(at) - scene.clock.now());
    const costs = await costsOfKeys(scene.query, `${since}T00:00:00.000Z`);
    for (const holder of HOLDERS) {
      const own = Object.values(KEYS).filter(({ userId }) => userId === USERS[holder]);
      const budget = { budget_usd: 1_000, budget_period: period };
      await scene.call(
        own.map(({ keyId }) => ({ method: 'keys.update', params: { key_id: keyId, ...budget } })),
        holder,
      );
      const [listed] = await scene.call([{ method: 'keys.list', params: {} }], holder);
      const used = (listed as readonly ListedKey[])
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        .map((key) => ({
          key: key.id,
          used: key.budget_used_usd,
          resets: key.budget_resets_at,
        }));
      const expected = own.map(({ keyId }) => ({ key: keyId, used: costs.get(keyId) ?? 0 }));
      expect({ period, at, used }).toMatchObject({ period, at, used: expected });
      answers.set(`${holder}, ${period}, ${at}`, used);
    }
  }
  scene.clock.advance(NOW.getTime() - scene.clock.now());
  await expectRecorded(recorded('key-budgets'), answers, { charsMax: 1_000 });
});

const USAGE_LISTS = (['bob', 'cat', 'dan', 'idle'] as const).flatMap((user) =>
  [undefined, 'default', 'shop', 'nothing'].flatMap((project) =>
    [
      { limit: 50, offset: 0 },
      { limit: 200, offset: 60 },
      { limit: 10, offset: 1_000 },
    ].map((page) => ({ user, project, page })),
  ),
);

interface UsageList {
  readonly records: readonly { readonly id: string }[];
  readonly total: number;
}

test('a list of usage has its rows, and how many there are', async () => {
  const answers = await askAll(USAGE_LISTS, async ({ user, project, page }) => {
    const params = { ...page, ...(project === undefined ? {} : { project }) };
    const [answer] = await scene.call([{ method: 'usage.list', params }], user);
    const { records, total } = answer as UsageList;
    const ids = await usageIdsOfRows(scene.query, USERS[user], project);
    const { limit, offset } = page;
    expect({ user, params, total, ids: records.map(({ id }) => id) }).toEqual({
      user,
      params,
      total: ids.length,
      ids: ids.slice(offset, offset + limit),
    });
    return [JSON.stringify({ user, ...params }), answer] as const;
  });
  await expectRecorded(recorded('usage-list'), new Map(answers));
});
