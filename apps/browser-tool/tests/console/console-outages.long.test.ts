import {
  createTestDatabase,
  openStoreLine,
  rpcCall,
  signInToProcess,
  startProcess,
  temporaryDataDir,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type StoreLine,
  type TemporaryFolder,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { startTool, type ToolUnderTest } from '../tool.ts';

// What a person with an open page of the console sees while a part of the installation is away, and that the page
// recovers without a reload. The tests continue each other.

const ACCOUNT = { email: 'person@example.com', password: 'long enough' };
const LOST = 'No connection to the service.';
const WIDE = { width: 1280, height: 900 };

/** A call that fails is sent three times, and again a while later. */
const ASKED_IN_TWO_TURNS = 4;
const COUNT_SKELETONS = `(() => {
  window.skeletons = 0;
  window.asked = 0;
  const { fetch } = window;
  window.fetch = (url, request) => {
    if (String(request?.body).includes('webhooks.list')) window.asked += 1;
    return fetch(url, request);
  };
  new MutationObserver(() => {
    window.skeletons += document.querySelectorAll('.skeleton').length;
  }).observe(document.body, { childList: true, subtree: true });
})()`;

let folder: TemporaryFolder;
let database: TestDatabase;
let postgres: StoreLine;
let redis: StoreLine;
let service: TestProcess;
/** The connection of the browser to the service. */
let line: StoreLine;
let tool: ToolUnderTest;
let key = '';
let settings: Readonly<Record<string, string>>;

const start = (port?: number): Promise<TestProcess> =>
  startProcess({ app: 'standalone', env: settings, ...(port === undefined ? {} : { port }) });

beforeAll(async () => {
  [folder, database] = await Promise.all([temporaryDataDir(), createTestDatabase()]);
  [postgres, redis] = await Promise.all([
    openStoreLine(database.url),
    openStoreLine(testRedisUrl()),
  ]);
  settings = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: folder.path,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  };
  [service, tool] = await Promise.all([start(), startTool()]);
  line = await openStoreLine(service.url);
  const token = await signInToProcess(service, database.url, ACCOUNT.email);
  const { result } = await rpcCall(service.url, 'keys.create', { name: 'First key' }, token);
  ({ key } = result as { readonly key: string });
  await tool.post('/resize', WIDE);
});
afterAll(async () => {
  await tool.close();
  await line.close();
  await service.stop();
  await Promise.all([postgres.close(), redis.close()]);
  await database.drop();
  await folder.remove();
});

async function evaluate(expression: string): Promise<unknown> {
  const { data } = await tool.post('/evaluate', { expression });
  return (data as { readonly result?: unknown } | undefined)?.result;
}

const text = async (): Promise<string> => String(await evaluate('document.body.innerText'));

async function see(...wanted: readonly string[]): Promise<void> {
  let shown = '';
  try {
    await waitUntil(async () => {
      shown = await text();
      return wanted.every((each) => shown.includes(each));
    });
  } catch (error) {
    throw new Error(`“${wanted.join('”, “')}” is not shown, but:\n${shown}`, { cause: error });
  }
}

const goneFrom = (unwanted: string): Promise<void> =>
  waitUntil(async () => !(await text()).includes(unwanted), { what: `the end of “${unwanted}”` });

const rows = async (): Promise<number> =>
  Number(await evaluate('document.querySelectorAll("tbody tr").length'));

/** Stays in the page until it is loaded again. */
const mark = (): Promise<unknown> => evaluate('window.isOpen = true');
const isSamePage = async (): Promise<boolean> => (await evaluate('window.isOpen')) === true;

const visit = async (name: string): Promise<void> => {
  const answer = await tool.post('/click', { target: `//nav//a[normalize-space()="${name}"]` });
  if (!answer.ok) throw new Error(answer.error);
};

async function signIn(): Promise<void> {
  await see('Password');
  for (const [name, value] of Object.entries(ACCOUNT))
    await tool.post('/type', { target: `input[name="${name}"]`, text: value });
  await tool.post('/press', { key: 'Enter' });
}

/** Directly to the service, past the connection of the browser. */
async function ask(): Promise<void> {
  const { status } = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'One.' }] }),
  });
  expect(status).toBe(200);
}

test('a lost connection is shown, heals by itself and misses nothing; a new version is announced', async () => {
  await ask();
  await tool.open(`${line.url}console/requests?status=ok`);
  await signIn();
  await see('Live: new requests appear by themselves');
  await mark();
  // The recorder writes a request down a moment after its answer.
  await waitUntil(async () => (await rows()) === 1, { what: 'the first request' });
  // As if the page came from an earlier build.
  await evaluate(`document.querySelector('meta[name="build"]').content = 'earlier'`);
  line.cut();
  await see(LOST);
  await ask();
  line.restore();
  await goneFrom(LOST);
  await waitUntil(async () => (await rows()) === 2, { what: 'the missed request' });
  await see('Live: new requests appear by themselves', 'A new version is ready.');
  expect(await isSamePage()).toBe(true);
});

test('a page that is chosen while the connection is lost opens when it is back', async () => {
  line.cut();
  await visit('Prices');
  await see(LOST);
  line.restore();
  await see('Token prices');
  await goneFrom(LOST);
});

test('while Postgres is away the page says so, and shows the content when it is back', async () => {
  postgres.cut();
  await visit('Webhooks');
  await see('The service failed', 'The database is not reachable.');
  // It stays while the service is asked again, instead of the skeleton of a page that loads.
  await evaluate(COUNT_SKELETONS);
  const asked = async (): Promise<number> => Number(await evaluate('window.asked'));
  await waitUntil(async () => (await asked()) >= ASKED_IN_TWO_TURNS, { what: 'the next turn' });
  expect(await evaluate('window.skeletons')).toBe(0);
  expect(await text()).toContain('The service failed');
  postgres.restore();
  await goneFrom('The service failed');
  await goneFrom('The database is not reachable.');
  await see('No webhook yet.');
  expect(await isSamePage()).toBe(true);
});

test('the overview says that nothing needs attention only when it could be checked', async () => {
  postgres.cut();
  await visit('Overview');
  await see('Not everything could be checked.');
  expect(await text()).not.toContain('Nothing needs attention.');
  postgres.restore();
  await see('Nothing needs attention.');
  await goneFrom('Not everything could be checked.');
});

test('while Redis is away pages still open and say so, and new requests appear again when it is back', async () => {
  redis.cut();
  await visit('Plan');
  await see('Plan');
  await visit('Requests');
  await waitUntil(async () => (await rows()) > 0, { what: 'the table of requests' });
  await see('Redis is not reachable.');
  redis.restore();
  await goneFrom('Redis is not reachable.');
  await see('Live: new requests appear by themselves');
  const before = await rows();
  await ask();
  await waitUntil(async () => (await rows()) > before, { what: 'the row of the request' });
  expect(await isSamePage()).toBe(true);
});

test('a restart is shown and healed; a session that it ended comes back to the same page', async () => {
  await tool.open(`${line.url}console/requests?status=ok&range=7d`);
  await see('Live: new requests appear by themselves');
  await mark();
  await service.stop();
  await see(LOST);
  await database.query('DELETE FROM refresh_tokens');
  settings = { ...settings, SERVICE_JWT_SECRET: 'another secret of at least thirty-two bytes' };
  service = await start(service.port);
  await see('Your session has ended. Sign in to go on where you were.');
  await signIn();
  await see('Live: new requests appear by themselves', 'Last 7 days');
  expect(await evaluate('location.pathname')).toBe('/console/requests');
  expect(await evaluate('location.search')).toContain('status=ok');
  expect(await isSamePage()).toBe(true);
});

test('a script of an earlier build loads the page of the new one', async () => {
  await evaluate(`void import('/console/assets/keys-page-OLD.js').catch(() => undefined)`);
  await waitUntil(async () => !(await isSamePage()), { what: 'the new page' });
  await see('Live: new requests appear by themselves');
  expect(await text()).not.toContain('A new version is ready.');
});
