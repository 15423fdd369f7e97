import {
  preparedDataDir,
  startProcess,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// The first people of an installation. The tests continue each other.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };

let folder: TemporaryFolder;
let service: TestProcess;
let tool: ToolUnderTest;
let page: ConsolePage;

beforeAll(async () => {
  folder = await preparedDataDir();
  service = await startProcess({
    app: 'standalone',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', SERVICE_DATA_DIR: folder.path },
  });
  tool = await startTool();
  page = createConsolePage(tool, service.url);
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await folder.remove();
});

test.each(['/console/keys', '/console/sign-in'])(
  '%s leads to the setup while there is no account',
  async (path) => {
    await page.open(path);
    await page.see('Set up Model Gateway');
    expect(await page.evaluate('location.pathname')).toBe('/console/welcome');
  },
);

test('the second of two people who set up an installation sees that their account is not the admin', async () => {
  await page.fill('Email', 'second@example.com');
  await page.fill('Password', 'another password');
  await registerAdmin(service.url, ADMIN);
  await page.press('Create the account');
  await page.see('This account is not the admin of this installation');
  const heading = 'document.querySelector("ol.steps h2").innerText';
  expect(await page.evaluate(heading)).toContain('Your account');
  await page.press('Use the demo model');
  await page.see('Programs use a key.');
});
