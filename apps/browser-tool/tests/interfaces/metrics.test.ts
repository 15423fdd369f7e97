import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

const TOKEN = 'a-token-of-some-length';
const ROOT = join(import.meta.dirname, '..', '..', '..', '..');

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({ '/': page('Start', '<button>Go</button>') });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const scrape = async (): Promise<string> => (await fetch(`${tool.url}/metrics`)).text();
const shows = async (...lines: readonly string[]): Promise<boolean> => {
  const text = await scrape();
  return lines.every((line) => text.includes(`${line}\n`));
};

test('a scrape starts no browser, and shows the process', async () => {
  const response = await fetch(`${tool.url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  for (const line of ['browser_up 0', 'browser_launches_total 0', 'browser_crashes_total 0'])
    expect(text).toContain(`${line}\n`);
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('requests are counted by the template of their route, never by what a caller made up', async () => {
  await tool.open(`${site.url}/`);
  await tool.get('/network/1234567');
  await tool.get('/click');
  await tool.get('/made-up');
  await fetch(`${tool.url}/health`, { headers: { origin: 'https://evil.example' } });
  const counted = 'browser_http_requests_total';
  // An answer is counted when its connection is done with it, which may be a moment after the client has it.
  await waitUntil(() =>
    shows(
      `${counted}{route="/navigate",method="POST",status="2xx"} 1`,
      `${counted}{route="/network/:id",method="GET",status="4xx"} 1`,
      `${counted}{route="/click",method="GET",status="4xx"} 1`,
      `${counted}{route="other",method="GET",status="4xx"} 2`,
      'browser_http_request_duration_seconds_count{route="/navigate"} 1',
    ),
  );
  expect(await scrape()).not.toMatch(/made-up|1234567/);
});

test('browsers that were started and lost are counted', async () => {
  await tool.open(`${site.url}/`);
  expect(await shows('browser_up 1', 'browser_launches_total 1', 'browser_crashes_total 0')).toBe(
    true,
  );
  process.kill((await tool.get('/info')).data.browser_pid as number, 'SIGKILL');
  await waitUntil(() => shows('browser_up 0', 'browser_crashes_total 1'));
  await tool.open(`${site.url}/`);
  expect(await shows('browser_up 1', 'browser_launches_total 2', 'browser_crashes_total 1')).toBe(
    true,
  );
});

test('they cannot be read by a page of another origin or without a token', async () => {
  const foreign = { headers: { origin: 'https://evil.example' } };
  expect((await fetch(`${tool.url}/metrics`, foreign)).status).toBe(403);
  const guarded = await startTool({ env: { BROWSER_TOKEN: TOKEN } });
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${guarded.url}/metrics`, { headers })).status;
  expect(await statusWith({})).toBe(401);
  expect(await statusWith({ authorization: `Bearer ${TOKEN}` })).toBe(200);
  await guarded.close();
});

test('the operations page describes every one of them', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
  const described = [...text.matchAll(/^\| `(browser_\w+)` +\| (\w+) /gm)];
  const exposed = [...(await scrape()).matchAll(/^# TYPE (browser_\w+) (\w+)$/gm)];
  const pairs = (matches: readonly RegExpExecArray[]) =>
    matches.map(([, name, kind]) => `${name} ${kind}`).toSorted();
  expect(pairs(described)).toEqual(pairs(exposed));
});
