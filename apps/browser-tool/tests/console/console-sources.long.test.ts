import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

// Where things come from: the configuration file, an import, a call. And what a change of one page does to another.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const ADMIN_TOKEN = 'the admin token of this test';
const FILE = `
aliases:
  - { alias: file-alias, target: demo-chat }
routes:
  - { model: file-route, targets: [{ model: demo-chat }] }
prices:
  - { pattern: file-priced, input_per_million: 1.375, output_per_million: 2 }
webhooks:
  - { url: "http://127.0.0.1:9/hook", events: [video.done] }
`;

let folder: TemporaryFolder;
let service: TestProcess;
let tool: ToolUnderTest;
let page: ConsolePage;
let token: string;

beforeAll(async () => {
  folder = await preparedDataDir();
  const file = join(folder.path, 'service.yaml');
  await writeFile(file, FILE);
  service = await startProcess({
    app: 'standalone',
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      SERVICE_DATA_DIR: folder.path,
      SERVICE_CONFIG: file,
      SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
      SERVICE_WEBHOOK_ALLOW_PRIVATE: '1',
    },
  });
  token = await registerAdmin(service.url, ADMIN);
  tool = await startTool();
  page = createConsolePage(tool, service.url);
  await page.signIn(ADMIN);
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await folder.remove();
});

const names = async (): Promise<unknown> =>
  page.evaluate(
    '[...document.querySelectorAll("main button[aria-label]")].map((button) => button.getAttribute("aria-label"))',
  );

test.each([
  { path: 'routes', shown: 'file-route', button: 'Remove the route of file-route' },
  { path: 'models', shown: 'file-alias', button: 'Remove the alias file-alias' },
  { path: 'webhooks', shown: '127.0.0.1:9', button: 'Remove http://127.0.0.1:9/hook' },
])('what comes from the file has no buttons that change it: $path', async ({ path, ...found }) => {
  await page.open(`/console/${path}`);
  await page.see(found.shown);
  await page.see('From the configuration file');
  expect(await names()).not.toContain(found.button);
});

test('a route that is added does not replace another, and the buttons say so', async () => {
  await page.open('/console/routes');
  await page.see('file-route');
  await page.press('Add a route');
  await page.fill('Requested model', 'file-route');
  await page.fill('Model', 'other');
  await page.press('Save');
  await waitUntil(
    async () =>
      (await page.evaluate(
        'document.querySelector("[role=dialog] [role=alert]")?.innerText === "This model has a route already. Edit that one."',
      )) === true,
    { what: 'the reason beside the buttons' },
  );
});

test('an admin sets the price of a model, changes it and removes it', async () => {
  await page.open('/console/prices?model=my-model');
  await page.fill('Input, USD per million tokens', '0.125');
  await page.fill('Output, USD per million tokens', '0.5');
  await page.press('Save');
  await page.see('$0.125');
  await page.press('Edit the price of my-model');
  await page.fill('Cached input, USD per million tokens (optional)', '0.0625');
  await page.press('Save');
  await page.see('Cached in $0.0625 per million');
  await page.press('Remove the price of my-model');
  await page.see('Remove the price of my-model?');
  await page.evaluate('document.querySelector("[role=alertdialog] .button-danger").click()');
  await waitUntil(
    async () => !String(await page.evaluate('document.body.innerText')).includes('my-model'),
    { what: 'the end of the price' },
  );
});

test('prices have all of their parts, every digit, their backend and their source', async () => {
  const own = { pattern: 'set-one', backend: 'cloud', input_per_million: 3, output_per_million: 4 };
  await rpcCall(service.url, 'billing.pricing.set', { ...own, per_request: 0.01 }, ADMIN_TOKEN);
  const catalogue = { 'painter-1': { mode: 'image_generation', output_cost_per_image: 0.04 } };
  await rpcCall(service.url, 'billing.pricing.import', { catalogue }, ADMIN_TOKEN);
  await page.open('/console/prices');
  await page.see('painter-1');
  const rows = (await page.evaluate(
    '[...document.querySelectorAll("tr")].map((row) => [...row.cells].slice(0, 6).map((cell) => cell.innerText.trim()).join(" | "))',
  )) as readonly string[];
  expect(rows).toEqual(
    expect.arrayContaining([
      'file-priced | All | $1.375 | $2.00 |  | Configuration file',
      'painter-1 | All | $0.00 | $0.00 | $0.04 per image | Imported',
      'set-one | cloud | $3.00 | $4.00 | $0.01 per request | Set here',
    ]),
  );
});

test('an alias that is removed leaves the table of models; a name that is taken is not replaced', async () => {
  await rpcCall(service.url, 'aliases.set', { alias: 'short', target: 'demo-chat' }, token);
  await page.open('/console/models');
  await page.see('Alias of demo-chat');
  await page.press('Add an alias');
  await page.fill('Alias', 'short');
  await page.key('Tab');
  await page.fill('Model', 'other');
  await page.press('Add');
  await page.see('There is an alias of this name already');
  await page.press('Cancel');
  await page.press('Remove the alias short');
  await page.press('Remove the alias');
  await waitUntil(
    async () =>
      !String(await page.evaluate('document.querySelector("main").innerText')).includes('short'),
    { what: 'the models without the alias' },
  );
});

test('a request that failed has its story', async () => {
  const created = await rpcCall(service.url, 'keys.create', { name: 'k' }, token);
  const { key } = created.result as { readonly key: string };
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'nowhere', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(response.status).toBe(404);
  const id = response.headers.get('x-request-id');
  // Failed requests are written about once a second.
  await waitUntil(async () => {
    const logged = await rpcCall(service.url, 'requests.get', { id }, token);
    return logged.error === undefined;
  });
  await page.open(`/console/requests?request=${id}`);
  await page.see('No backend available for model: nowhere');
});
