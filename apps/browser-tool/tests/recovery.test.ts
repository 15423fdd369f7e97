import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from './site.ts';
import { isBelow, processesWith } from './tool-process.ts';
import { startTool, type ToolUnderTest } from './tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<button>Go</button>'),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const browserPid = async (): Promise<number> =>
  (await tool.get('/info')).data.browser_pid as number;
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
/** A call that notifies the site when it runs. */
const neverEnding = (name: string) =>
  tool.post('/evaluate', { expression: `fetch("/${name}"); new Promise(() => undefined)` });
const ownProfiles = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('browser-tool-profile-'));

test('a browser that was killed is restarted by the next call, and old refs are stale', async () => {
  await tool.open(`${site.url}/`);
  const { ref } = (await tool.get('/dom?selector=button')).data as { ref: string };
  const pid = await browserPid();
  const profiles = ownProfiles();
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => !isAlive(pid));
  const stale = await tool.post('/click', { target: ref });
  expect(stale).toMatchObject({ status: 409, code: 'STALE_REF', details: { restarted: true } });
  expect(stale.error).toContain('(The browser was restarted before this call.)');
  expect((await tool.open(`${site.url}/`)).data).not.toHaveProperty('restarted');
  await waitUntil(
    () => ownProfiles().filter((name) => profiles.includes(name)).length < profiles.length,
  );
  const fresh = (await tool.get('/dom?selector=button')).data as { ref: string };
  expect(Number(fresh.ref.slice(1))).toBeGreaterThan(Number(ref.slice(1)));
});

test('the response of a call that needed a new browser reports it', async () => {
  process.kill(await browserPid(), 'SIGKILL');
  await waitUntil(() => tool.tool.session.engine() === undefined);
  expect((await tool.get('/health')).data).toMatchObject({ status: 'ok' });
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', restarted: true });
});

test('a call that the browser dies under fails, and the next one works', async () => {
  const pid = await browserPid();
  await tool.open(`${site.url}/`);
  const waiting = neverEnding('first');
  await waitUntil(() => site.requests.includes('/first'));
  process.kill(pid, 'SIGKILL');
  const answer = await waiting;
  expect(answer).toMatchObject({ status: 503, code: 'BROWSER_CRASHED' });
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', restarted: true });
});

test('a tab that crashes is replaced', async () => {
  await tool.open(`${site.url}/`);
  const pid = await browserPid();
  const crash = neverEnding('second');
  await waitUntil(() => site.requests.includes('/second'));
  for (const renderer of processesWith('--type=renderer')) {
    if (isBelow(renderer, pid)) process.kill(renderer, 'SIGKILL');
  }
  const answer = await crash;
  expect(answer).toMatchObject({ status: 503, code: 'BROWSER_CRASHED' });
  expect(answer.error).toBe(`The tab of ${site.url}/ crashed. Call again: a new tab is opened.`);
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', restarted: true });
});

test('a tab that crashes between calls is replaced by the next call', async () => {
  await tool.open(`${site.url}/`);
  const pid = await browserPid();
  for (const renderer of processesWith('--type=renderer')) {
    if (isBelow(renderer, pid)) process.kill(renderer, 'SIGKILL');
  }
  await waitUntil(() => tool.tool.session.status().engine?.isTabCrashed === true);
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', restarted: true });
});

test('a new tab is reported by the next call, and /info does not count as one', async () => {
  await tool.open(`${site.url}/`);
  const pid = await browserPid();
  const crash = neverEnding('watched');
  await waitUntil(() => site.requests.includes('/watched'));
  for (const renderer of processesWith('--type=renderer')) {
    if (isBelow(renderer, pid)) process.kill(renderer, 'SIGKILL');
  }
  await crash;
  expect((await tool.get('/info')).data.url).toBe('about:blank');
  expect((await tool.get('/a11y')).data).toMatchObject({ restarted: true });
  expect((await tool.get('/a11y')).data).not.toHaveProperty('restarted');
});

test('a browser that can open no new tab is replaced', async () => {
  await tool.open(`${site.url}/`);
  const pid = await browserPid();
  const crash = neverEnding('third');
  await waitUntil(() => site.requests.includes('/third'));
  const own = (type: string): readonly number[] =>
    processesWith(`--type=${type}`).filter((process) => isBelow(process, pid));
  const forking = own('zygote');
  expect(forking).not.toEqual([]);
  for (const each of forking) process.kill(each, 'SIGSTOP');
  for (const renderer of own('renderer')) process.kill(renderer, 'SIGKILL');
  expect(await crash).toMatchObject({ status: 503, code: 'BROWSER_CRASHED' });
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', restarted: true });
  await waitUntil(() => !isAlive(pid));
});

test('a page that hangs costs its call, not the tool', async () => {
  // Several times, because the late result can arrive before or after the timeout.
  for (let round = 0; round < 8; round += 1) {
    await tool.open(`${site.url}/`);
    const notify = `const call = new XMLHttpRequest(); call.open('GET', '/hangs-${round}', false); call.send()`;
    await tool.post('/evaluate', { expression: `setTimeout(() => { ${notify}; for (;;) {} }); 0` });
    await waitUntil(() => site.requests.includes(`/hangs-${round}`));
    const hung = await tool.post('/evaluate', { expression: '1', timeout_ms: 100 });
    expect(hung).toMatchObject({ status: 504, code: 'TIMEOUT' });
  }
  expect((await tool.open(`${site.url}/`)).data.title).toBe('Start');
});

test('a browser that hangs is ended', async () => {
  await tool.open(`${site.url}/`);
  const pid = await browserPid();
  process.kill(-pid, 'SIGSTOP');
  const answer = await tool.post('/evaluate', { expression: '1' });
  expect(answer).toMatchObject({ status: 503, code: 'BROWSER_CRASHED' });
  await waitUntil(() => !isAlive(pid));
  expect((await tool.open(`${site.url}/`)).data).toMatchObject({ restarted: true });
});
