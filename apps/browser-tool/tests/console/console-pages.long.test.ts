import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  preparedDataDir,
  rpcCall,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// Every page of the console, with something on it: WCAG 2.2 AA in both themes, on a phone and at 200 % zoom, and by keyboard.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const PHONE = { width: 360, height: 740 };
/** A window of 1280 pixels at 200 %. */
const ZOOMED = { width: 640, height: 450 };
const IN_NAVIGATION = [
  'overview',
  'playground',
  'keys',
  'usage',
  'plan',
  'video',
  'models',
  'backends',
  'routes',
  'nodes',
  'requests',
  'audit',
  'webhooks',
  'people',
  'groups',
  'prices',
  'settings',
].map((name) => `/console/${name}`);
const OTHERS = [
  '/console/account',
  '/console/playground/embeddings',
  '/console/playground/realtime',
  '/console/routes/explain?model=demo-chat',
  '/console/invite#token',
  '/console/reset#rst-none',
  '/console/design',
  '/console/nowhere',
];

// Of the package that shows the pages.
const { resolve } = createRequire(new URL('../../../console/package.json', import.meta.url));
const AXE = readFileSync(resolve('axe-core/axe.min.js'), 'utf8');

let folder: TemporaryFolder;
let service: TestProcess;
let tool: ToolUnderTest;
let page: ConsolePage;

beforeAll(async () => {
  folder = await preparedDataDir();
  service = await startProcess({
    app: 'standalone',
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      SERVICE_DATA_DIR: folder.path,
      SERVICE_WEBHOOK_ALLOW_PRIVATE: '1',
    },
  });
  const token = await registerAdmin(service.url, ADMIN);
  const call = (method: string, params: object): Promise<unknown> =>
    rpcCall(service.url, method, params, token);
  await call('backends.add', {
    type: 'external',
    name: 'cloud',
    url: 'http://127.0.0.1:9',
    models: ['gpt-realtime', 'cloud-model'],
  });
  await call('routes.set', { model: 'best', targets: [{ model: 'cloud-model' }] });
  await call('aliases.set', { alias: 'fast', target: 'demo-chat' });
  await call('agents.register', { name: 'gpu-1' });
  await call('group.create', { name: 'Research' });
  await call('webhooks.create', { url: 'http://127.0.0.1:9/hook', events: ['video.done'] });
  await call('keys.create', { name: 'First key' });
  tool = await startTool();
  page = createConsolePage(tool, service.url);
  await page.signIn(ADMIN);
  await page.open('/console/playground');
  await page.fill('Message', 'Hello!');
  await page.key('Enter');
  await page.see('Tokens in / out');
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await folder.remove();
});

/** Opens a page and waits until it has loaded what it shows. */
async function openWhole(path: string): Promise<void> {
  await page.open(path);
  await waitUntil(
    async () => (await page.evaluate('document.querySelector(".skeleton") === null')) === true,
    { what: `the content of ${path}` },
  );
}

/** The rules that the page breaks, with the elements. */
async function violations(): Promise<unknown> {
  await page.evaluate(AXE);
  return page.evaluate(`(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run(document, { runOnly: tags });
    return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | '));
  })()`);
}

const isNarrowEnough = (): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

test('every page of the navigation is looked at here', async () => {
  await page.open('/console/playground');
  const found = await page.evaluate(
    '[...document.querySelectorAll("nav.navigation a")].map((link) => link.getAttribute("href"))',
  );
  expect(found).toEqual(IN_NAVIGATION);
});

test.each([...IN_NAVIGATION, ...OTHERS])(
  '%s breaks no rule of WCAG 2.2 AA, on a phone and at 200 %%',
  async (path) => {
    for (const [size, theme] of [
      [PHONE, 'light'],
      [ZOOMED, 'dark'],
    ] as const) {
      await tool.post('/resize', size);
      await openWhole(path);
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      expect([size.width, await violations()]).toEqual([size.width, []]);
      expect([size.width, await isNarrowEnough()]).toEqual([size.width, true]);
    }
  },
);

test('an address without a page says so, with the navigation around it', async () => {
  await tool.post('/resize', { width: 1280, height: 900 });
  await openWhole('/console/nowhere');
  await page.see('There is no such page');
  expect(await page.evaluate('document.querySelectorAll("nav.navigation a").length')).toBe(
    IN_NAVIGATION.length,
  );
});

test('what has the focus can be seen, also where a table is a list of cards', async () => {
  await tool.post('/resize', ZOOMED);
  await openWhole('/console/models');
  await page.tabTo('.table-order [role=combobox]');
  const box = (await page.evaluate(
    '(() => { const { width, height } = document.activeElement.getBoundingClientRect(); return [width, height]; })()',
  )) as readonly number[];
  expect(Math.min(...box)).toBeGreaterThanOrEqual(24);
});

test('a table is sorted by keyboard, and its order is in the address', async () => {
  await tool.post('/resize', { width: 1280, height: 900 });
  await openWhole('/console/models');
  await page.tabTo('button.sort');
  await page.key('Enter');
  await waitUntil(
    async () => String(await page.evaluate('location.search')) === '?models_sort=id',
    { what: 'the order in the address' },
  );
  expect(await page.evaluate('document.querySelector("th").getAttribute("aria-sort")')).toBe(
    'ascending',
  );
  await openWhole('/console/models?models_sort=-id');
  expect(await page.evaluate('document.querySelector("th").getAttribute("aria-sort")')).toBe(
    'descending',
  );
});

test('dialogs of the newer pages open and close by keyboard, and give the focus back', async () => {
  for (const [path, name] of [
    ['/console/webhooks', 'Add a webhook'],
    ['/console/routes', 'Add a route'],
    ['/console/keys', 'Create a key'],
  ] as const) {
    await openWhole(path);
    const button = `document.activeElement?.textContent?.trim() === '${name}'`;
    await waitUntil(
      async () => {
        if ((await page.evaluate(button)) === true) return true;
        await page.key('Tab');
        return false;
      },
      { what: `the focus on ${name}` },
    );
    await page.key('Enter');
    await waitUntil(
      async () =>
        (await page.evaluate(
          'document.querySelector("[role=dialog]")?.contains(document.activeElement) === true',
        )) === true,
      { what: `the focus in the dialog of ${path}` },
    );
    await page.key('Escape');
    await waitUntil(async () => (await page.evaluate(button)) === true, {
      what: `the focus back on ${name}`,
    });
  }
});

test('a form begins in its first field, and two clicks at once create one key, which is shown', async () => {
  await openWhole('/console/keys');
  await page.press('Create a key');
  await waitUntil(
    async () => (await page.evaluate('document.activeElement?.getAttribute("name")')) === 'name',
    { what: 'the focus on the name' },
  );
  const name = `Unbroken${'x'.repeat(80)}`;
  await page.fill('Name', name);
  const submit = `document.querySelector('[role=dialog] button[type=submit]')`;
  await page.evaluate(`(() => {
    const send = globalThis.fetch;
    const released = new Promise((release) => { globalThis.release = release; });
    globalThis.fetch = async (...call) => { await released; return send(...call); };
    ${submit}.click();
    ${submit}.click();
  })()`);
  await waitUntil(async () => (await page.evaluate(`${submit}.disabled`)) === true, {
    what: 'the call',
  });
  await page.key('Escape');
  await page.evaluate('globalThis.release()');
  await page.see('Copy it now.');
  await page.press('I have copied it');
  await page.see(name);
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('tbody tr')].filter((row) => row.textContent.includes('${name}')).length`,
    ),
  ).toBe(1);
  for (const width of [900, 1280]) {
    await tool.post('/resize', { width, height: 900 });
    await openWhole('/console/keys');
    expect([width, await isNarrowEnough()]).toEqual([width, true]);
  }
});

test('the search leads to the key that was chosen, among others', async () => {
  await openWhole('/console/playground');
  await page.key('Control+k');
  await page.see('Pages');
  await tool.post('/type', { target: '.search input.input', text: 'First key' });
  await waitUntil(
    async () =>
      String(await page.evaluate('document.querySelector("[role=option]").textContent')).startsWith(
        'First key (service-',
      ),
    { what: 'the key as the first that is found' },
  );
  await page.key('Enter');
  await page.see('First key');
  const names = `[...document.querySelectorAll('tbody td:first-child')].map((cell) => cell.textContent)`;
  expect(await page.evaluate(names)).toEqual([expect.stringMatching(/^First key service-/)]);
});

test.each(['http://127.0.0.1:9/', '//127.0.0.1:9/', 'javascript:1'])(
  'a link to the sign-in page does not lead on to %s',
  async (elsewhere) => {
    await openWhole(`/console/sign-in?return_to=${encodeURIComponent(elsewhere)}`);
    expect(await page.evaluate('location.href')).toBe(`${service.url}/console/overview`);
  },
);

test('what is invalid in an address is left out, and the rest of it is shown', async () => {
  await openWhole('/console/usage?by=nothing&measure=requests&scope=none&range=2w');
  await page.see('Requests per hour');
  await openWhole('/console/requests?status=none&key_id=none');
  await page.see('demo-chat');
});
