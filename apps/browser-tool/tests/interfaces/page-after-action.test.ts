import type { BrowserEngine, EngineCall } from '../../src/engine.ts';
import type { RunCall } from '../../src/session/browser-session.ts';
import { ToolError } from '../../src/errors.ts';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { callMcp } from './mcp-call.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page('Shop', '<button onclick="document.title = `Ordered`">Order</button>'),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

beforeEach(() => tool.open(`${site.url}/`));

/** Clicks with a snapshot, and does something right before the page is read for it. */
function clickAndRead(before: (engine: BrowserEngine, call: EngineCall) => Promise<unknown>) {
  const wrapped =
    (run: RunCall): RunCall =>
    (options, work) =>
      run(options, async (engine, call) => {
        if (options.name === 'a11y') await before(engine, call);
        return work(engine, call);
      });
  const context: typeof tool.tool.context = (signal, run = tool.tool.session.run) =>
    tool.tool.context(signal, wrapped(run));
  const changed = { ...tool, tool: { ...tool.tool, context } };
  return callMcp(changed, 'browser_click', { target: 'text=Order', includeSnapshot: true });
}

test('a click stays a success if its page cannot be read afterwards', async () => {
  const { said, structured, isError } = await clickAndRead(() =>
    Promise.reject(new ToolError('TIMEOUT', 'a11y did not finish.', { hint: 'Call again.' })),
  );
  expect(isError).toBe(false);
  expect(said).toMatch(
    /^Clicked button "Order" \[ref=e\d+\]\n- Page URL: .*\n- Page Title: Ordered\n/,
  );
  expect(said).toContain(
    '- Snapshot: the page could not be read: TIMEOUT: a11y did not finish. Call again.',
  );
  expect(structured).toMatchObject({ ok: true, clicked: true, title: 'Ordered' });
});

test('dialogs and another address of the page are reported with the snapshot', async () => {
  const { said, structured } = await clickAndRead((engine, call) =>
    engine.evaluate(
      {
        function: 'document.title = "Later"; confirm("Really?")',
        args: [],
        target: undefined,
        awaitPromise: true,
        timeoutMs: 5_000,
      },
      call,
    ),
  );
  expect(said).toContain('- Page Title: Later\n- Dialog: confirm "Really?" was dismissed');
  expect(said).toMatch(/\n\n- button "Order" \[active\] \[ref=e\d+\]$/);
  expect(structured).toMatchObject({
    title: 'Later',
    dialogs: [{ type: 'confirm', message: 'Really?', action: 'dismissed' }],
  });
});
