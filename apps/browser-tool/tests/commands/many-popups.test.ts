import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

// More than there may be tabs, so that the first tab is closed while its click is handled.
const OPENED = 25;

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/tab': page('Tab', ''),
    '/many': page(
      'Many',
      `<button onclick="for (let tab = 0; tab < ${OPENED}; tab += 1) window.open('/tab?' + tab)">Open</button>`,
    ),
  });
  tool = await startTool();
});
afterAll(async () => {
  await tool.close();
  await site.close();
});

test('a click that opens so many tabs that its own page is closed is done', async () => {
  await tool.open(`${site.url}/many`);
  const { data, error } = await tool.post('/click', { target: 'text=Open' });
  expect(error).toBeUndefined();
  expect(data).toMatchObject({
    clicked: true,
    opened_tab: { url: expect.stringContaining('/tab?') },
  });
});
