import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

const TABS_MAX = 20;
const OPENED = 30;

/** Nothing says that no further tab will answer. */
const COUNT_OTHERS = `new Promise((resolve) => {
  answers.clear();
  channel.postMessage('who');
  setTimeout(() => resolve(answers.size), 300);
})`;

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
  });
  tool = await startTool();
});
afterAll(async () => {
  await tool.close();
  await site.close();
});

test('of more than 20 tabs the oldest are closed, and the newest is the active one', async () => {
  await tool.open(`${site.url}/tab`);
  for (let tab = 1; tab < OPENED; tab += 1) {
    const { data } = await tool.post('/evaluate', { expression: "void open('/tab')" });
    expect(data.opened_tab).toEqual({ url: `${site.url}/tab` });
  }
  const others = async (): Promise<unknown> =>
    (await tool.post('/evaluate', { expression: COUNT_OTHERS })).data.result;
  await waitUntil(async () => (await others()) === TABS_MAX - 1, { what: 'the tabs that stay' });
  expect((await tool.get('/info')).data.url).toBe(`${site.url}/tab`);
});
