import {
  preparedDataDir,
  rpcCall,
  startProcess,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// The chat of the playground. The tests continue each other.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };

let folder: TemporaryFolder;
let service: TestProcess;
let upstream: RunningChatUpstream;
let tool: ToolUnderTest;
let page: ConsolePage;

beforeAll(async () => {
  folder = await preparedDataDir();
  upstream = await startChatUpstream({
    models: ['cloud-model'],
    answer: () => 'one two three four five',
  });
  service = await startProcess({
    app: 'standalone',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', SERVICE_DATA_DIR: folder.path },
  });
  const token = await registerAdmin(service.url, ADMIN);
  await rpcCall(
    service.url,
    'backends.add',
    { type: 'external', name: 'cloud', url: upstream.url, models: ['cloud-model'] },
    token,
  );
  tool = await startTool();
  page = createConsolePage(tool, service.url);
  await page.signIn(ADMIN);
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await upstream.close();
  await folder.remove();
});

async function ask(question: string): Promise<void> {
  await page.fill('Message', question);
  await page.key('Enter');
}

const follow = (name: string): Promise<unknown> =>
  tool.post('/click', { target: `//a[normalize-space()="${name}"]` });
async function signOut(): Promise<void> {
  await page.press('Account');
  await tool.post('/click', { target: '//*[@role="menuitem"][normalize-space()="Sign out"]' });
  await page.see('Password');
}
const shown = async (): Promise<string> => String(await page.evaluate('document.body.innerText'));

test('an error of a backend is not blamed on the person, and leads to its request', async () => {
  upstream.faults.next({
    kind: 'status',
    status: 500,
    body: { error: { message: 'The engine is out of memory.' } },
  });
  await page.open('/console/playground?model=cloud-model');
  await ask('First question?');
  await page.see('cloud-model failed');
  await page.see('cloud answered 500: The engine is out of memory.');
  await page.see('Try again, or choose another model.');
  await follow('Open the request');
  await page.see('Your reference');
});

test('what the backend says of the request is still a refusal', async () => {
  upstream.faults.next({
    kind: 'status',
    status: 400,
    body: { error: { message: 'The prompt is too long.' } },
  });
  await page.open('/console/playground?model=cloud-model');
  await page.see('cloud answered 500');
  await ask('Second question?');
  await page.see('The service refused this');
  await page.see('upstream 400: The prompt is too long.');
});

test('a chat is there again after its page was left or loaded again, and stopped if it ran', async () => {
  upstream.faults.next({ kind: 'stall', afterChunks: 3 });
  await ask('Third question?');
  await page.see('one two');
  await follow('Keys');
  await page.see('You have no key yet');
  await follow('Playground');
  await page.see('Third question?');
  await page.see('Stopped.');
  await page.open('/console/playground?model=cloud-model');
  for (const text of ['First question?', 'cloud-model failed', 'The service refused', 'Stopped.'])
    await page.see(text);
  await ask('Fourth question?');
  await page.see('one two three four five');
  await page.see('Fourth question?');
});

test('a new chat forgets the one before, and so does signing out', async () => {
  await page.press('New chat');
  await page.see('Choose a model and write a message.');
  await page.open('/console/playground');
  await page.see('Choose a model and write a message.');
  await ask('A secret question?');
  await page.see('Tokens in / out');
  await follow('Keys');
  await page.see('You have no key yet');
  const kept = 'JSON.stringify({ ...sessionStorage })';
  expect(await page.evaluate(kept)).toContain('A secret question?');
  await signOut();
  expect(await page.evaluate(kept)).toBe('{}');
  await page.signIn(ADMIN);
  expect(await shown()).not.toContain('A secret question?');
});
