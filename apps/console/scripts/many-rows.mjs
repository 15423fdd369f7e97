// Answers of a service that has thousands of everything: the first row of each list, many times.
const DAY_MS = 86_400_000;

/** Rows of a method, many times; as many as were asked for, where the service gives one page at a time. */
const MANY = {
  'keys.list': (keys, many) =>
    many(keys, (key, place) => ({
      ...key,
      id: idOf(place),
      name: `k${place}`,
      ...(place % 10 === 0 ? nearlyUsedBudget() : {}),
    })),
  'group.list': (groups, many) =>
    many(groups, (group, place) => ({
      ...group,
      id: place === 0 ? group.id : idOf(place),
      name: `group ${place}`,
    })),
  'group.get': (group, many) => ({
    ...group,
    members: many(group.members, (member, place) => ({
      ...member,
      user_id: idOf(place),
      email: `${place}@example.com`,
    })),
  }),
  'aliases.list': ({ aliases }, many) => ({
    aliases: many(aliases, (alias, place) => ({ ...alias, alias: `alias-${place}` })),
  }),
  'routes.list': (routes, many) =>
    many(routes, (route, place) => ({ ...route, model: `model-${place}` })),
  'conversations.list': (conversations, many) =>
    many(conversations, (conversation, place) => ({
      ...conversation,
      id: idOf(place),
      title: `Conversation ${place}`,
    })),
  'ledger.self': (ledger, many) => ({
    ...ledger,
    entries: many(
      [{ kind: 'topup', note: null, ref: null, delta: 1, balance_after: 1 }],
      (entry, place) => ({
        ...entry,
        id: idOf(place),
        created_at: new Date(Date.now() - place * DAY_MS).toISOString(),
      }),
    ),
  }),
  'usage.summary': (summary, many, { group_by: by }) =>
    by === 'key'
      ? {
          ...summary,
          groups: many(summary.groups, (group, place) => ({ ...group, key: idOf(place) })),
        }
      : summary,
  'requests.list': ({ requests, ...others }, _many, { limit }) => ({
    ...others,
    requests: times(limit, requests, (request, place) => ({
      ...request,
      id: idOf(place),
      created_at: new Date(Date.now() - place * DAY_MS).toISOString(),
    })),
  }),
  'users.list': ({ users, ...others }, _many, { limit }) => ({
    ...others,
    users: times(limit, users, (user, place) => ({
      ...user,
      id: idOf(place),
      email: `${place}@example.com`,
    })),
  }),
  'audit.list': ({ entries, ...others }, _many, { limit }) => ({
    ...others,
    entries: times(limit, entries, (entry, place) => ({ ...entry, seq: place + 1 })),
  }),
  'billing.pricing.get': ({ pricing }, many) => ({
    pricing: many(pricing, (price, place) => ({ ...price, pattern: `model-${place}` })),
  }),
};

/** Changes what a page is answered, from now on. Returns a function that waits until the page has all that it asked for. */
export async function manyRows(page, count) {
  const pending = new Set();
  const isAsked = (request) => /\/api\/rpc$|\/v1\/models$/.test(request.url());
  page.on('request', (request) => isAsked(request) && pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  const many = (rows, change) => times(count, rows, change);
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const { data, ...others } = await response.json();
    const models = many(data, (model, place) => ({ ...model, id: `model-${place}` }));
    await route.fulfill({ response, json: { ...others, data: models } });
  });
  await page.route('**/api/rpc', async (route) => {
    const { method, params } = route.request().postDataJSON() ?? {};
    const multiply = MANY[method];
    if (multiply === undefined) return route.continue();
    const response = await route.fetch();
    const { result, ...others } = await response.json();
    return route.fulfill({ response, json: { ...others, result: multiply(result, many, params) } });
  });
  return async () => {
    while (pending.size > 0) await page.waitForEvent('requestfinished');
    // What arrived last is rendered in the frames that follow.
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
  };
}

/** The first row, so many times. */
function times(count, [first], change) {
  return first === undefined
    ? []
    : Array.from({ length: count }, (_, place) => change(first, place));
}

const nearlyUsedBudget = () => ({
  budget_usd: 10,
  budget_used_usd: 9,
  budget_period: 'month',
  budget_resets_at: new Date(Date.now() + DAY_MS).toISOString(),
});

function idOf(place) {
  return `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
}
