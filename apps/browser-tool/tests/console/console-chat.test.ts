import {
  preparedDataDir,
  rpcCall,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// The chat of the playground, and the search. The tests continue each other.

const MARKDOWN = [
  '# A heading',
  '**bold** <img src=x onerror="window.isHurt = true"> [a trap](javascript:window.isHurt=true)',
  '![a picture](https://example.com/picture.png) and [a page](https://example.com/page)',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '```python\nprint("<b>hello</b>")\n```',
].join('\n\n');
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
    answer: ({ messages }) =>
      messages.at(-1)?.text.includes('in Markdown') === true ? MARKDOWN : 'one two three four five',
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
  await tool.post('/click', { target: 'button.account-button' });
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

test('an answer is shown as Markdown, and nothing in it runs or is loaded', async () => {
  await page.press('New chat');
  await ask('Answer in Markdown, please.');
  await page.see('Tokens in / out');
  const all = (selector: string): Promise<unknown> =>
    page.evaluate(
      `[...document.querySelectorAll('.turn-answer ${selector}')].map((one) => one.innerText)`,
    );
  expect(await all('h2')).toEqual(['A heading']);
  expect(await all('strong')).toContain('bold');
  expect(await all('td')).toEqual(['1', '2']);
  expect(await all('pre code')).toEqual(['print("<b>hello</b>")']);
  await waitUntil(async () => String(await all('.hljs-string')).includes('hello'), {
    what: 'the colors of the code',
  });
  expect(await all(':is(img, script, iframe)')).toEqual([]);
  expect(await all('.markdown a')).toEqual(['a picture', 'a page']);
  expect(await shown()).toContain('<img src=x onerror="window.isHurt = true">');
  expect(await page.evaluate('window.isHurt === true')).toBe(false);
});

test('a new chat forgets the one before, and so does signing out', async () => {
  await page.press('New chat');
  await page.see('What do you want to try?');
  await page.open('/console/playground');
  await page.see('What do you want to try?');
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

test('the search finds what a person may see, and what can be done', async () => {
  const find = async (text: string, found: string): Promise<void> => {
    await page.key('Control+k');
    await page.see('Pages');
    await tool.post('/type', { target: '.search input.input', text });
    await waitUntil(
      async () =>
        String(await page.evaluate('document.querySelector(".search-list")?.innerText')).includes(
          found,
        ),
      { what: `${found} among what is found` },
    );
  };
  const options = (): Promise<unknown> =>
    page.evaluate('[...document.querySelectorAll("[role=option]")].map((one) => one.innerText)');
  await find('cloud', 'Backends');
  expect(await options()).toEqual(['cloud-model', 'cloud']);
  await page.key('Escape');
  await find('admin@', 'People');
  await page.key('Enter');
  await page.see('Last sign-in');
  await page.see(ADMIN.email);
  await find('create a key', 'Actions');
  await page.key('Enter');
  await page.fill('Name', 'From the search');
  await page.key('Enter');
  await page.see('Copy it now.');
  await page.press('I have copied it');
  await page.see('From the search');
  expect(await page.evaluate('location.hash')).toBe('');
});

test('the search shows nothing of admins to others', async () => {
  await signOut();
  await page.press('Create an account');
  await page.fill('Email', 'second@example.com');
  await page.fill('Password', 'another password');
  await page.press('Create the account');
  await page.see('Playground');
  await page.key('Control+k');
  await page.see('Create a group');
  const list = 'document.querySelector(".search-list").innerText';
  expect(await page.evaluate(list)).not.toMatch(/Backends|People|Add a backend/);
  await tool.post('/type', { target: '.search input.input', text: 'admin@' });
  await page.see('Nothing found for “admin@”.');
});
