import { existsSync } from 'node:fs';
import { callMcp } from '../interfaces/mcp-call.ts';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

const TABS_MAX = 5;
const CHROMIUM = '/usr/bin/chromium';

/** Nothing says that no further tab will answer. */
const COUNT_OTHERS = `new Promise((resolve) => {
  answers.clear();
  channel.postMessage('who');
  setTimeout(() => resolve(answers.size), 300);
})`;

function openerOf(path: string): string {
  return page(
    'Opener',
    `<script>
       const openMany = () => {
         for (let tab = 0; tab < 40; tab += 1) open('${path}?' + tab, '_blank', 'noopener');
       };
       openMany();
       document.body.innerHTML = '<p id="tried">tried</p>';
     </script>`,
  );
}

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/tab': page(
      'Tab',
      `<script>
         const channel = new BroadcastChannel('tabs');
         const answers = new Set();
         channel.onmessage = ({ data }) => {
           if (data === 'who') channel.postMessage(id);
           else answers.add(data);
         };
         const id = crypto.randomUUID();
       </script>`,
    ),
    '/opener': openerOf('/popup'),
    '/blocked-opener': openerOf('/blocked-popup'),
  });
  tool = await startTool({ env: { BROWSER_TABS_MAX: String(TABS_MAX) } });
});
afterAll(async () => {
  await tool.close();
  await site.close();
});

test('a tab above the limit is closed at once and reported, and the page stays', async () => {
  await tool.open(`${site.url}/tab`);
  for (let tab = 1; tab < TABS_MAX; tab += 1) {
    const { data } = await tool.post('/evaluate', { expression: "void open('/tab')" });
    expect(data.opened_tab).toEqual({ url: `${site.url}/tab` });
  }
  const { data } = await tool.post('/evaluate', {
    expression: "globalThis.stays = true; void open('/tab?refused')",
  });
  expect(data.opened_tab).toEqual({ url: `${site.url}/tab?refused`, closed: true });
  const other = await callMcp(tool, 'browser_evaluate', {
    function: "void open('/tab?again', '_blank', 'noopener')",
  });
  expect(other.said).toContain(
    `- Opened tab: ${site.url}/tab?again was closed at once: too many tabs are open`,
  );
  const others = await tool.post('/evaluate', { expression: COUNT_OTHERS });
  expect(others.data).toMatchObject({ result: TABS_MAX - 1 });
  const stays = await tool.post('/evaluate', { expression: 'stays' });
  expect(stays.data).toMatchObject({ result: true });
});

test('a page that opens tabs without end fills no more than the limit', async () => {
  site.requests.length = 0;
  await tool.open(`${site.url}/opener`);
  expect(site.requests.filter((path) => path === '/popup').length).toBeLessThan(TABS_MAX);
  expect((await tool.post('/evaluate', { expression: '1 + 1' })).data.result).toBe(2);
});

test('scripts open no tabs by themselves in a browser with a popup blocker', async () => {
  if (!existsSync(CHROMIUM)) return;
  const env = { CHROMIUM_PATH: CHROMIUM };
  const other = await startTool({ env });
  try {
    await other.open(`${site.url}/blocked-opener`);
    const { data } = await other.post('/wait-for-selector', { selector: '#tried' });
    expect(data).toMatchObject({ found: true });
    expect(site.requests).not.toContain('/blocked-popup');
    const opened = await other.post('/evaluate', { expression: "void open('/tab')" });
    expect(opened.data.opened_tab).toEqual({ url: `${site.url}/tab` });
  } finally {
    await other.close();
  }
});
