import { AUDIT_EXEMPT } from '../../src/admin/admin-audit.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { ADMIN_TOKEN, startGateway, type GatewayUnderTest } from '../gateway.ts';

const UPSTREAM_KEY = 'sk-key-of-the-upstream';
const URL_WITH_KEY = 'http://127.0.0.1:9/v1?key=a-key-in-the-query';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.test.close());

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${gateway.url}/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-request-id': 'request-1' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, type: response.headers.get('content-type'), response };
}

async function exported(query = ''): Promise<readonly Record<string, unknown>[]> {
  const { status, type, response } = await call('GET', `/audit${query}`);
  expect([status, type]).toEqual([200, 'application/x-ndjson']);
  const lines = (await response.text()).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const backend = { type: 'external', url: URL_WITH_KEY, api_key: UPSTREAM_KEY, models: ['m'] };

/** A successful request of every operation that changes something, in an order in which they work. */
const REQUESTS = [
  {
    operation: 'POST /api/admin/backends',
    path: '/backends',
    body: { ...backend, name: 'a' },
    target: 'backend:a',
  },
  {
    operation: 'PUT /api/admin/backends/by-name/{name}',
    path: '/backends/by-name/b%20c',
    body: backend,
    target: 'backend:b c',
  },
  {
    operation: 'PATCH /api/admin/backends/by-name/{name}',
    path: '/backends/by-name/b%20c',
    body: { models: ['n'] },
    target: 'backend:b c',
  },
  {
    operation: 'DELETE /api/admin/backends/by-name/{name}',
    path: '/backends/by-name/b%20c',
    target: 'backend:b c',
  },
  {
    operation: 'DELETE /api/admin/backends',
    path: '/backends',
    body: { index: 0 },
    target: 'backend:a',
  },
  {
    operation: 'POST /api/admin/aliases',
    path: '/aliases',
    body: { alias: 'fast', target: 'm' },
    target: 'alias:fast',
  },
  {
    operation: 'DELETE /api/admin/aliases',
    path: '/aliases',
    body: { alias: 'fast' },
    target: 'alias:fast',
  },
];

test('every operation of the admin token that is no read is recorded or says why not', () => {
  const changing = OPERATIONS.filter(
    ({ method, security }) => method !== 'get' && security.includes('adminToken'),
  ).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  const known = [...REQUESTS.map(({ operation }) => operation), ...Object.keys(AUDIT_EXEMPT)];
  expect(changing.toSorted()).toEqual(known.toSorted());
});

test.each(REQUESTS)('$operation has an entry', async ({ operation, path, body, target }) => {
  const [method = ''] = operation.split(' ');
  const before = await exported();
  const { status, response } = await call(method, path, body);
  await response.text();
  expect(status).toBe(200);
  const after = await exported();
  expect(after).toHaveLength(before.length + 1);
  expect(after.at(-1)).toMatchObject({
    actor: 'admin-token',
    actor_id: null,
    action: operation,
    target,
    client_ip: '127.0.0.1',
    request_id: expect.stringMatching(/./),
  });
  expect(JSON.stringify(after)).not.toContain(UPSTREAM_KEY);
  expect(JSON.stringify(after)).not.toContain('a-key-in-the-query');
});

test('entries show what was before and after', async () => {
  const changed = (await exported()).find(({ action }) => String(action).startsWith('PATCH'));
  expect(changed).toMatchObject({
    before: { type: 'external', has_key: true, models: ['m'] },
    after: { type: 'external', has_key: true, models: ['n'] },
  });
  const removed = (await exported()).find(({ action }) => action === 'DELETE /api/admin/aliases');
  expect(removed).toMatchObject({ before: { target: 'm' }, after: null });
});

test.each([
  { why: 'without a name', body: { url: URL_WITH_KEY }, name: 'local-server' },
  { why: 'with spaces around its name', body: { ...backend, name: ' spaced ' }, name: 'spaced' },
])('a backend $why is recorded under the name that it got', async ({ body, name }) => {
  const { status, response } = await call('POST', '/backends', body);
  expect(status).toBe(200);
  expect(await response.json()).toMatchObject({ name });
  const entry = (await exported()).at(-1);
  expect(entry).toMatchObject({
    target: `backend:${name}`,
    before: null,
    after: { has_key: expect.any(Boolean) },
  });
});

test('an alias with spaces around it is recorded as it is set', async () => {
  await call('POST', '/aliases', { alias: ' padded ', target: 'm' });
  const entry = (await exported()).at(-1);
  expect(entry).toMatchObject({ target: 'alias:padded', before: null, after: { target: 'm' } });
});

test('a refused request has no entry', async () => {
  const before = await exported();
  expect((await call('POST', '/aliases', { alias: 'x' })).status).toBe(400);
  expect((await call('DELETE', '/backends/by-name/unknown')).status).toBe(404);
  expect(await exported()).toEqual(before);
});

test('the export is limited by time and by the last entry that is known', async () => {
  const all = await exported();
  expect(await exported(`?after=${String(all[2]?.['seq'])}`)).toEqual(all.slice(3));
  expect(await exported('?to=2020-01-01')).toEqual([]);
  expect(await exported('?from=2020-01-01')).toEqual(all);
  expect((await call('GET', '/audit?from=yesterday')).status).toBe(400);
});

test('a long log is exported in full', async () => {
  const { audit } = gateway.test.context.database;
  const known = (await exported()).length;
  await gateway.test.query(
    `INSERT INTO audit_entries (seq, at, actor, action, client_ip, request_id, previous_hash, hash)
     SELECT n + $1, now(), 'admin-token', 'test', '', '', '', '' FROM generate_series(1, 1200) n`,
    [known],
  );
  const seqs = (await exported()).map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: known + 1200 }, (_, index) => index + 1));
  expect(await audit.read({ afterSeq: known + 1199, countMax: 5 })).toHaveLength(1);
});
