// Every kind of usage query that the APIs can make.

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const PAGE = { limit: 50, offset: 0 };
const LARGE_PAGE = { limit: 100, offset: 0 };
const REFS = ['ref-1', 'ref-50', 'ref-150'];

const ALL = { refIds: [] };
const daysBefore = ({ today }, days) => new Date(today.getTime() - days * DAY_MS);
/** From twenty to ten days ago, starting and ending within a day. */
const withinDays = (scene, refIds = []) => ({
  refIds,
  since: new Date(daysBefore(scene, 20).getTime() + 10.25 * HOUR_MS),
  until: new Date(daysBefore(scene, 10).getTime() + 15.75 * HOUR_MS),
});

const GROUPINGS = ['day', 'hour', 'model', 'upstream', 'key', 'project', 'group', 'user'];
/** 30 whole days, as the default of `usage.summary`; a week by hour. */
const period = (scene, by) => ({
  since: daysBefore(scene, by === 'hour' ? 7 : 30),
  until: scene.today,
});

/** `usage.summary` by every dimension: of all users, of the busiest user and of a group. */
const SUMMARIES = [
  { of: 'all users', filter: () => ({}) },
  { of: 'a user', filter: ({ userId }) => ({ userId }) },
  { of: 'a group', filter: ({ groupId }) => ({ groupId }) },
].flatMap(({ of, filter }) =>
  GROUPINGS.map((by) => ({
    name: `usage.summary of ${of}, by ${by}`,
    ask: ({ spend }, scene) => spend.summary({ ...filter(scene), ...period(scene, by) }, by),
  })),
);

export const SHAPES = [
  ...SUMMARIES,
  ...['model', 'user'].map((by) => ({
    name: `usage.summary of all users, by ${by}, from within an hour to within an hour`,
    ask: ({ spend }, scene) => spend.summary(withinDays(scene), by),
  })),
  {
    name: 'usage.summary of a user, by model, from within an hour to within an hour',
    // Models of a user have kept sums by day only, so the rows of the user on two days are read.
    isUnbounded: true,
    ask: ({ spend }, scene) =>
      spend.summary({ userId: scene.userId, ...withinDays(scene) }, 'model'),
  },
  {
    name: 'usage.list, first page',
    ask: ({ usage }, { userId }) => usage.list({ userId, ...PAGE }),
  },
  {
    name: 'usage.list of a project',
    ask: ({ usage }, { userId }) => usage.list({ userId, project: 'web', ...PAGE }),
  },
  {
    name: 'billing.plan',
    ask: ({ plans }, { userId, month }) =>
      Promise.all([plans.tiers(), plans.standing(userId, month)]),
  },
  {
    name: 'usage/query: totals',
    ask: ({ usageQueries }) => usageQueries.totals(ALL),
  },
  ...['model', 'backend', 'day', 'ref'].map((by) => ({
    name: `usage/query: by ${by}`,
    ask: ({ usageQueries }) => usageQueries.groups(ALL, by),
  })),
  {
    name: 'usage/query: totals of references',
    ask: ({ usageQueries }) => usageQueries.totals({ refIds: REFS }),
  },
  {
    name: 'usage/query: by model, of references',
    ask: ({ usageQueries }) => usageQueries.groups({ refIds: REFS }, 'model'),
  },
  {
    name: 'usage/query: whole days',
    ask: ({ usageQueries }, scene) =>
      usageQueries.totals({ ...ALL, since: daysBefore(scene, 30), until: daysBefore(scene, 10) }),
  },
  {
    name: 'usage/query: from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.totals(withinDays(scene)),
  },
  {
    name: 'usage/query: by model, from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.groups(withinDays(scene), 'model'),
  },
  {
    name: 'usage/query: by ref, from within a day to within a day',
    // References have no hourly totals, so all rows of the two days are read.
    isUnbounded: true,
    ask: ({ usageQueries }, scene) => usageQueries.groups(withinDays(scene), 'ref'),
  },
  {
    name: 'usage/query: references, from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.totals(withinDays(scene, REFS)),
  },
  {
    name: 'usage/query: records, first page',
    ask: ({ usageQueries }) => usageQueries.records(ALL, LARGE_PAGE),
  },
  {
    name: 'usage/query: records of references',
    ask: ({ usageQueries }) => usageQueries.records({ refIds: REFS }, LARGE_PAGE),
  },
  {
    name: 'usage/query: records from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.records(withinDays(scene), LARGE_PAGE),
  },
];
