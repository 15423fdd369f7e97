import type { ServerResponse } from 'node:http';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

// Some wait until a navigation is given up.

let site: Site;
let tool: ToolUnderTest;
let held: ServerResponse[] = [];

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Start',
      '<a href="/held">away</a><a href="mailto:a@b.example">mail</a><p id="old">Old</p>',
    ),
    '/held': (_request, response) => {
      held.push(response);
    },
    '/closes': page('Closes', '<script>setTimeout(() => close(), 300)</script>'),
    '/popup': page('Popup', 'popup'),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

beforeEach(async () => {
  held = [];
  await tool.open(`${site.url}/`);
});

const evaluate = (expression: string, more: object = {}) =>
  tool.post('/evaluate', { expression, ...more });

/** The page asks for another one, which does not come until it is let go. */
async function leave(): Promise<void> {
  expect(await evaluate('location.href = "/held"; 1')).toMatchObject({ ok: true });
  await waitUntil(() => held.length > 0);
}

function letCome(): void {
  for (const response of held) {
    response.setHeader('content-type', 'text/html');
    response.end(page('Late', '<p id="new">New</p>'));
  }
}

test('a click to a server that does not respond reports it in time, and the page is still there', async () => {
  const { data } = await tool.post('/click', { target: 'text=away' });
  expect(data).toMatchObject({
    navigated: false,
    url: `${site.url}/`,
    title: 'Start',
    pending_url: `${site.url}/held`,
  });
  expect(data).not.toHaveProperty('restarted');
  const read = await evaluate('document.title');
  expect(read.data).toMatchObject({ result: 'Start' });
  expect(read.data).not.toHaveProperty('restarted');
  expect((await tool.get('/dom?selector=%23old')).data).toMatchObject({ text: 'Old' });
});

test('a script that a page on its way does not run in time leaves the page that comes', async () => {
  await leave();
  const late = await evaluate('1', { timeout_ms: 500 });
  expect(late).toMatchObject({ status: 504, code: 'TIMEOUT' });
  expect(late.error).toContain(`navigating to ${site.url}/held`);
  letCome();
  // A script does not wait until the page is read: its title may not be there yet, its address is.
  const arrived = await evaluate('location.pathname');
  expect(arrived.data).toMatchObject({ result: '/held' });
  expect(arrived.data).not.toHaveProperty('restarted');
});

test('what is waited for on a page that is on its way is found once it is there', async () => {
  await leave();
  const missed = await tool.post('/wait-for-selector', { selector: '#new', timeout_ms: 200 });
  expect(missed.data).toMatchObject({ found: false });
  const waiting = tool.post('/wait-for-selector', { selector: '#new', timeout_ms: 20_000 });
  letCome();
  expect((await waiting).data).toMatchObject({ found: true, count: 1 });
});

test('a loading page can be redirected and can report its address', async () => {
  await leave();
  expect((await tool.get('/info')).data).toMatchObject({ url: `${site.url}/`, title: 'Start' });
  expect((await tool.open(`${site.url}/popup`)).data).toMatchObject({ title: 'Popup' });
});

test('a link that opens no page holds nothing up', async () => {
  expect((await tool.post('/click', { target: 'text=mail' })).data).toMatchObject({
    navigated: false,
  });
  expect((await evaluate('document.title')).data.result).toBe('Start');
});

test('the time-out of a navigation covers the element that is waited for', async () => {
  const answer = await tool.post('/navigate', {
    url: `${site.url}/`,
    wait_for: '#missing',
    timeout_ms: 1_500,
  });
  expect(answer).toMatchObject({ status: 504, code: 'TIMEOUT' });
  expect(answer.error).toContain('within 1500 ms');
});

test('a tab that a script opens is reported by its address', async () => {
  const { data } = await evaluate('window.open("/popup"); 1');
  expect(data.opened_tab).toEqual({ url: `${site.url}/popup` });
  // Its answer and the end of its tab are on their way at the same time.
  await evaluate('window.close(); 1');
  await waitUntil(async () => (await evaluate('document.title')).data?.result === 'Start');
});

test('a tab that closes itself leaves the next command to the page below', async () => {
  await evaluate('window.open("/closes"); 1');
  const said = new Set<string>();
  await waitUntil(async () => {
    const { ok, data, error } = await evaluate('document.title');
    said.add(ok ? (data.result as string) : error);
    return said.has('Start');
  });
  // It may close in the very middle of a script.
  const middle = `The tab of ${site.url}/closes closed before the script finished. Call again on the page that is shown now.`;
  expect(['Start', 'Closes', '', middle]).toEqual(expect.arrayContaining([...said]));
});
