import type { ServerResponse } from 'node:http';
import { waitUntil } from '@model-gateway/testkit';
import { callMcp } from '../interfaces/mcp-call.ts';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type Answer, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;
const gates: ServerResponse[] = [];
const OUTCOMES = ['/opened', '/blocked'];

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Start',
      `<script>
         // Tabs stay open, and a browser has few connections to a server.
         const gate = new EventSource('/gate');
         gate.onmessage = ({ data }) => { gate.close(); eval(data); };
       </script>`,
    ),
    '/gate': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
      gates.push(response);
    },
    '/form': page('Form', '<a href="/missing">Missing</a>'),
    '/empty': page('Empty', ''),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

/** Has a page run something while no call runs, right after a call that lets it open a tab. */
async function runBetweenCalls(script: string): Promise<void> {
  gates.length = 0;
  await tool.open(`${site.url}/`);
  await waitUntil(() => gates.length > 0);
  await tool.post('/evaluate', { expression: '0' });
  gates[0]?.end(`data: ${script}\n\n`);
}

/** Has a page open a tab while no call runs. */
async function openTabBetweenCalls(path: string): Promise<void> {
  do {
    site.requests.length = 0;
    await runBetweenCalls(`window.open('${path}') ? fetch('/opened') : fetch('/blocked')`);
    await waitUntil(() => site.requests.some((each) => OUTCOMES.includes(each)));
    // The permission that a call gives ends after five seconds: a busy machine may be slower than that.
  } while (site.requests.includes('/blocked'));
}

async function openBetweenCalls(): Promise<void> {
  await openTabBetweenCalls('/form');
  await waitUntil(() => site.requests.includes('/form'));
}

const calls: readonly { name: string; call: () => Promise<Answer> }[] = [
  { name: 'evaluate', call: () => tool.post('/evaluate', { expression: '1' }) },
  { name: 'dom', call: () => tool.get('/dom?selector=a') },
  { name: 'a11y', call: () => tool.get('/a11y') },
  { name: 'screenshot', call: () => tool.post('/screenshot') },
  { name: 'resize', call: () => tool.post('/resize', { width: 800, height: 600 }) },
  { name: 'navigate', call: () => tool.post('/navigate', { url: `${site.url}/empty` }) },
  { name: 'click', call: () => tool.post('/click', { target: 'a' }) },
  { name: 'wait-for-selector', call: () => tool.post('/wait-for-selector', { selector: 'a' }) },
];

test.each(calls)(
  'a tab that opened between two calls is reported once, by $name',
  async ({ call }) => {
    await openBetweenCalls();
    expect(await call()).toMatchObject({
      ok: true,
      data: { opened_tab: { url: `${site.url}/form` } },
    });
    const again = await tool.post('/evaluate', { expression: '1' });
    expect(again.data.opened_tab).toBeUndefined();
  },
);

test.each([
  { name: 'browser_evaluate', args: { function: '1' } },
  { name: 'browser_snapshot', args: {} },
  { name: 'browser_resize', args: { width: 800, height: 600 } },
])('$name of MCP reports it too', async ({ name, args }) => {
  await openBetweenCalls();
  const { said, structured } = await callMcp(tool, name, args);
  expect(said).toContain(`- Opened tab: ${site.url}/form is the active page now`);
  expect(structured).toMatchObject({ ok: true, opened_tab: { url: `${site.url}/form` } });
  expect((await callMcp(tool, name, args)).said).not.toContain('Opened tab');
});

test('a tab that stays empty is reported too', async () => {
  await openTabBetweenCalls('');
  await waitUntil(async () => {
    const { data } = await tool.post('/evaluate', { expression: '1' });
    return data.opened_tab?.url === 'about:blank';
  });
});

test('a failed call or one without a report does not lose it', async () => {
  await openBetweenCalls();
  await waitUntil(async () => (await tool.get('/info')).data.url === `${site.url}/form`);
  expect((await tool.get('/viewport')).ok).toBe(true);
  expect((await tool.post('/click', { target: '#nowhere', timeout_ms: 0 })).ok).toBe(false);
  const { data } = await tool.get('/a11y');
  expect(data.opened_tab).toEqual({ url: `${site.url}/form` });
});

test('going back in it returns its address', async () => {
  await openBetweenCalls();
  expect(await tool.post('/back')).toMatchObject({
    status: 409,
    code: 'NO_HISTORY',
    error: expect.stringContaining(`go back to from ${site.url}/form.`),
  });
});

test('an unreported dialog waits for the next call, and /info does not count as one', async () => {
  const kinds: string[] = [];
  const stop = tool.tool.session.captures.events.listen((kind) => kinds.push(kind));
  await runBetweenCalls("confirm('Late?')");
  await waitUntil(() => kinds.includes('dialog'));
  stop();
  expect((await tool.get('/info')).data.url).toBe(`${site.url}/`);
  const { data } = await tool.post('/evaluate', { expression: '1' });
  expect(data.dialogs).toEqual([{ type: 'confirm', message: 'Late?', action: 'dismissed' }]);
});

test('a failure reports the dialogs before it', async () => {
  await tool.open(`${site.url}/`);
  const failed = await tool.post('/evaluate', { expression: 'confirm("Really?"); nothing()' });
  expect(failed).toMatchObject({
    code: 'EVALUATION_FAILED',
    details: {
      name: 'ReferenceError',
      dialogs: [{ type: 'confirm', message: 'Really?', action: 'dismissed' }],
    },
  });
  expect((await tool.post('/evaluate', { expression: '1' })).data.dialogs).toBeUndefined();
});
