// Every kind of usage query that the APIs can make.

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const PAGE = { limit: 50, offset: 0 };
const LARGE_PAGE = { limit: 100, offset: 0 };
/** No row has this id, and every id comes after it. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
const REFS = ['ref-1', 'ref-50', 'ref-150'];

const ALL = { refIds: [] };
const daysBefore = ({ today }, days) => new Date(today.getTime() - days * DAY_MS);
const hoursBefore = ({ today }, hours) => new Date(today.getTime() - hours * HOUR_MS);
/** From twenty to ten days ago, starting and ending within a day. */
const withinDays = (scene, refIds = []) => ({
  refIds,
  since: new Date(daysBefore(scene, 20).getTime() + 10.25 * HOUR_MS),
  until: new Date(daysBefore(scene, 10).getTime() + 15.75 * HOUR_MS),
});

/** What the console asks for: whole hours until now, or whole days. Nothing is recorded after now, so the whole day is read. */
const lastDays = (scene, days) => ({
  since: days > 1 ? daysBefore(scene, days) : new Date(scene.now.getTime() - DAY_MS),
  until: daysBefore(scene, -1),
});
const lengthOf = (days) => (days === 1 ? '24 hours' : `${days} days`);

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

/** The lines of the charts: one value of a dimension over time, for 30 days by day and for 30 hours, the longest, by hour. */
const CHART_LINES = [
  { of: 'a model', filter: () => ({ model: 'model-1' }) },
  { of: 'an upstream', filter: () => ({ upstream: 'upstream-1' }) },
  { of: 'a key', filter: ({ keyId }) => ({ keyId }) },
  { of: 'a project', filter: () => ({ project: 'web' }) },
  { of: 'a group', filter: ({ groupId }) => ({ groupId }) },
  { of: 'a user and a model', filter: ({ userId }) => ({ userId, model: 'model-1' }) },
  { of: 'a user and a project', filter: ({ userId }) => ({ userId, project: 'web' }) },
  { of: 'a group and a model', filter: ({ groupId }) => ({ groupId, model: 'model-1' }) },
  { of: 'a group and a project', filter: ({ groupId }) => ({ groupId, project: 'web' }) },
].flatMap(({ of, filter }) =>
  [
    { by: 'day', days: 30, length: '30 days' },
    { by: 'hour', days: 1.25, length: '30 hours' },
  ].map(({ by, days, length }) => ({
    name: `usage.summary of ${of}, by ${by}, ${length}`,
    ask: ({ spend }, scene) =>
      spend.summary({ ...filter(scene), since: daysBefore(scene, days), until: scene.today }, by),
  })),
);

/** `requests.list` with every filter of the page of requests, over 30 days. */
const REQUEST_LISTS = [
  { of: 'all users', filter: () => ({}) },
  { of: 'all users, page 2', filter: () => ({}), isSecond: true },
  { of: 'all users, a deep page', filter: () => ({}), isDeep: true },
  { of: 'all users, an error code', filter: () => ({ errorCode: 'bad_gateway' }) },
  { of: 'all users, an unknown request id', filter: () => ({ requestId: 'unknown' }) },
  { of: 'all users, errors', filter: () => ({ status: 'error' }) },
  { of: 'all users, served', filter: () => ({ status: 'ok' }) },
  { of: 'a model', filter: () => ({ model: 'model-1' }) },
  { of: 'a rare model', filter: () => ({ model: 'model-rare' }) },
  { of: 'a model, errors', filter: () => ({ model: 'model-1', status: 'error' }) },
  { of: 'an upstream', filter: () => ({ upstream: 'upstream-1' }) },
  { of: 'a project', filter: () => ({ project: 'web' }) },
  { of: 'a rare project', filter: () => ({ project: 'rare' }) },
  { of: 'a key', filter: ({ keyId }) => ({ keyId }) },
  { of: 'a rare key', filter: ({ rareKeyId }) => ({ keyId: rareKeyId }) },
  { of: 'a group', filter: ({ groupId }) => ({ groupId }) },
  { of: 'a group and a model', filter: ({ groupId }) => ({ groupId, model: 'model-1' }) },
  { of: 'a group, a deep page', filter: ({ groupId }) => ({ groupId }), isDeep: true },
  { of: 'a group, errors', filter: ({ groupId }) => ({ groupId, status: 'error' }) },
  { of: 'a user', filter: ({ userId }) => ({ userId }) },
  { of: 'a user, a deep page', filter: ({ userId }) => ({ userId }), isDeep: true },
  { of: 'a user, errors', filter: ({ userId }) => ({ userId, status: 'error' }) },
  { of: 'a user and a model', filter: ({ userId }) => ({ userId, model: 'model-1' }) },
  { of: 'a user and a rare model', filter: ({ userId }) => ({ userId, model: 'model-rare' }) },
  { of: 'a user and a rare project', filter: ({ userId }) => ({ userId, project: 'rare' }) },
  { of: 'a user and a rare key', filter: (scene) => ofRareKey(scene) },
].map(({ of, filter, isSecond, isDeep }) => ({
  name: `requests.list of ${of}`,
  ask: async ({ requestLog }, scene) => {
    const asked = { ...filter(scene), since: daysBefore(scene, 30), until: scene.today };
    const after = isDeep
      ? { createdAt: daysBefore(scene, 20).toISOString(), id: NO_ID }
      : undefined;
    const { next } = await requestLog.list(asked, { limit: PAGE.limit, after });
    if (isSecond) await requestLog.list(asked, { limit: PAGE.limit, after: next });
  },
}));

const ofRareKey = ({ userId, rareKeyId }) => ({ userId, keyId: rareKeyId });

export const SHAPES = [
  ...SUMMARIES,
  ...CHART_LINES,
  ...REQUEST_LISTS,
  ...['model', 'user'].map((by) => ({
    name: `usage.summary of all users, by ${by}, from within an hour to within an hour`,
    ask: ({ spend }, scene) => spend.summary(withinDays(scene), by),
  })),
  // What the pages ask for: of an administrator and of a user, with the range that they begin with and the longest.
  ...[1, 30].flatMap((days) =>
    ['model', 'user', 'key', 'project'].map((by) => ({
      name: `usage.summary of all users, by ${by}, the last ${lengthOf(days)}`,
      ask: ({ spend }, scene) => spend.summary(lastDays(scene, days), by),
    })),
  ),
  ...[1, 30].map((days) => ({
    name: `usage.summary of a user, by model, the last ${lengthOf(days)}`,
    ask: ({ spend }, scene) =>
      spend.summary({ userId: scene.userId, ...lastDays(scene, days) }, 'model'),
  })),
  // An hour later: sums from 12:00 to the end of the day are kept, so that one from 13:00 takes the most lines.
  ...['user', 'key'].map((by) => ({
    name: `usage.summary of all users, by ${by}, the last 24 hours at 13:00`,
    ask: ({ spend }, scene) =>
      spend.summary({ since: hoursBefore(scene, 11), until: daysBefore(scene, -1) }, by),
  })),
  // Two parts of days in the past: for 24 hours more is read than for any other range of this length.
  ...['user', 'key'].map((by) => ({
    name: `usage.summary of all users, by ${by}, 24 hours of the past from 13:00 to 13:00`,
    ask: ({ spend }, scene) =>
      spend.summary({ since: hoursBefore(scene, 59), until: hoursBefore(scene, 35) }, by),
  })),
  {
    // Models of a user are kept by the hour only for past days on which the user was busy.
    name: 'usage.summary of a user, by model, from within an hour to within an hour',
    ask: ({ spend }, scene) =>
      spend.summary({ userId: scene.userId, ...withinDays(scene) }, 'model'),
  },
  {
    // As above; at noon the most hours are read.
    name: 'usage.summary of a user, by model, 24 hours of the past from noon to noon',
    ask: ({ spend }, scene) =>
      spend.summary(
        { userId: scene.userId, since: daysBefore(scene, 2.5), until: daysBefore(scene, 1.5) },
        'model',
      ),
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
    ask: ({ usageQueries }) => usageQueries.find(ALL, {}),
  },
  ...['model', 'backend', 'day', 'ref'].map((by) => ({
    name: `usage/query: by ${by}`,
    ask: ({ usageQueries }) => usageQueries.find(ALL, { by }),
  })),
  {
    name: 'usage/query: totals of references',
    ask: ({ usageQueries }) => usageQueries.find({ refIds: REFS }, {}),
  },
  {
    name: 'usage/query: by model, of references',
    ask: ({ usageQueries }) => usageQueries.find({ refIds: REFS }, { by: 'model' }),
  },
  {
    name: 'usage/query: whole days',
    ask: ({ usageQueries }, scene) =>
      usageQueries.find({ ...ALL, since: daysBefore(scene, 30), until: daysBefore(scene, 10) }, {}),
  },
  {
    name: 'usage/query: from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.find(withinDays(scene), {}),
  },
  {
    name: 'usage/query: by model, from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.find(withinDays(scene), { by: 'model' }),
  },
  {
    name: 'usage/query: by ref, from within a day to within a day',
    // References have no hourly totals, so all rows of the two days are read.
    isUnbounded: true,
    ask: ({ usageQueries }, scene) => usageQueries.find(withinDays(scene), { by: 'ref' }),
  },
  {
    name: 'usage/query: references, from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.find(withinDays(scene, REFS), {}),
  },
  {
    name: 'usage/query: records, first page',
    ask: ({ usageQueries }) => usageQueries.find(ALL, { page: LARGE_PAGE }),
  },
  {
    name: 'usage/query: records of references',
    ask: ({ usageQueries }) => usageQueries.find({ refIds: REFS }, { page: LARGE_PAGE }),
  },
  {
    name: 'usage/query: records from within a day to within a day',
    ask: ({ usageQueries }, scene) => usageQueries.find(withinDays(scene), { page: LARGE_PAGE }),
  },
];
