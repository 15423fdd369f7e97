import { fileURLToPath } from 'node:url';
import { createMCPClient, type MCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as AiSdkTransport } from '@ai-sdk/mcp/mcp-stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { fullTable } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const TOOLS = [
  'browser_navigate',
  'browser_navigate_back',
  'browser_navigate_forward',
  'browser_snapshot',
  'browser_dom',
  'browser_screenshot',
  'browser_click',
  'browser_type',
  'browser_press_key',
  'browser_evaluate',
  'browser_console_messages',
  'browser_resize',
];

// oxlint-disable-next-line typescript/no-explicit-any -- Decoded answers are of any shape.
type Result = any;
type CallTool = (name: string, args?: Record<string, unknown>) => Promise<Result>;

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Bench Shop',
      `<h1>Shop</h1><label>Name <input id="name"></label><button onclick="document.title = 'Ordered'; console.error('no stock')">Place order</button>
       <a href="/next">Next</a><button id="delete" onclick="document.title = String(confirm('Delete?'))">Delete</button>`,
    ),
    '/next': page('Next', '<p>Next</p>'),
    '/noise': page(
      'Noise',
      `<style>body { margin: 0 }</style><canvas id="noise" width="2600" height="2600"></canvas><script>
        const pixels = new ImageData(2600, 2600);
        for (let at = 0; at < pixels.data.length; at += 65536) crypto.getRandomValues(pixels.data.subarray(at, at + 65536));
        for (let at = 3; at < pixels.data.length; at += 4) pixels.data[at] = 255;
        noise.getContext('2d').putImageData(pixels, 0, 0);
      </script>`,
    ),
  });
});

afterAll(() => site.close());

const environment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
});

/** What any client must be able to do with the twelve tools. */
async function driveAll(call: CallTool): Promise<void> {
  const text = (result: Result): string => result.content[0].text as string;

  const opened = await call('browser_navigate', { url: `${site.url}/`, includeSnapshot: true });
  expect(text(opened)).toMatch(
    new RegExp(
      `^Navigated to ${site.url}/\n- Page URL: ${site.url}/\n- Page Title: Bench Shop\n\n- heading "Shop" \\[level=1\\]`,
    ),
  );
  expect(opened.structuredContent).toMatchObject({
    ok: true,
    url: `${site.url}/`,
    title: 'Bench Shop',
    status: 200,
    load_state: 'complete',
  });

  const snapshot = await call('browser_snapshot');
  expect(text(snapshot)).toContain('- textbox "Name" [ref=');
  expect(snapshot.structuredContent).toMatchObject({
    ok: true,
    title: 'Bench Shop',
    truncated: false,
  });
  const ref = /button "Place order" \[ref=(e\d+)\]/.exec(text(snapshot))?.[1];

  const clicked = await call('browser_click', { target: ref, element: 'the order button' });
  expect(text(clicked)).toBe(
    `Clicked button "Place order" [ref=${ref}]\n- Page URL: ${site.url}/\n- Page Title: Ordered\n- Console: 1 errors, 0 warnings`,
  );
  expect(clicked.structuredContent).toMatchObject({
    ok: true,
    clicked: true,
    navigated: false,
    target: { ref, role: 'button' },
  });

  const dismissed = await call('browser_click', { target: '#delete' });
  expect(text(dismissed)).toContain(
    '- Dialog: confirm "Delete?" was dismissed (pass dialog:"accept" to accept)',
  );
  const accepted = await call('browser_click', { target: '#delete', dialog: 'accept' });
  expect(text(accepted)).toContain('- Dialog: confirm "Delete?" was accepted');

  const typed = await call('browser_type', { target: '#name', text: 'Ann' });
  expect(text(typed)).toMatch(/^Typed "Ann" into textbox "Name" \[ref=e\d+\]\n/);
  expect(typed.structuredContent).toMatchObject({ ok: true, typed: true, value: 'Ann' });

  const pressed = await call('browser_press_key', { key: 'Backspace' });
  expect(text(pressed)).toMatch(/^Pressed Backspace\n/);
  const evaluated = await call('browser_evaluate', {
    function: '(element) => element.value',
    target: '#name',
  });
  expect(text(evaluated)).toBe('"An"');
  expect(evaluated.structuredContent).toMatchObject({
    ok: true,
    result: 'An',
    type: 'string',
    url: `${site.url}/`,
  });

  const queried = await call('browser_dom', { selector: '#name', attribute: 'id' });
  expect(queried.structuredContent).toMatchObject({
    ok: true,
    count: 1,
    attribute: 'id',
    value: 'name',
  });

  const messages = await call('browser_console_messages', { level: 'error' });
  expect(text(messages)).toMatch(/^\[ERROR\] no stock @ /);
  expect(messages.structuredContent).toMatchObject({
    ok: true,
    entries: [{ level: 'error', text: 'no stock' }],
  });

  const resized = await call('browser_resize', { width: 800, height: 600 });
  expect(text(resized)).toBe('Resized to 800x600');
  const shot = await call('browser_screenshot', { format: 'jpeg' });
  expect(text(shot)).toMatch(/^Screenshot of the viewport: 800x600 image\/jpeg, \d+ KB$/);
  expect(shot.content[1]).toMatchObject({ type: 'image', mimeType: 'image/jpeg' });
  expect(shot.structuredContent).toMatchObject({ ok: true, width: 800, height: 600 });
  expect(shot.structuredContent).not.toHaveProperty('data');

  const moved = await call('browser_click', { target: 'text=Next' });
  expect(moved.structuredContent).toMatchObject({ navigated: true, url: `${site.url}/next` });
  const back = await call('browser_navigate_back', {});
  expect(text(back)).toMatch(new RegExp(`^Went back to ${site.url}/\n`));
  const forward = await call('browser_navigate_forward', {});
  expect(forward.structuredContent).toMatchObject({ ok: true, url: `${site.url}/next` });

  const stale = await call('browser_click', { target: ref });
  expect(stale).toMatchObject({
    isError: true,
    structuredContent: { ok: false, code: 'STALE_REF', hint: expect.any(String) },
  });
  expect(text(stale)).toBe(
    `STALE_REF: ${ref} belonged to ${site.url}/ which is no longer loaded (now ${site.url}/next). Call browser_snapshot for fresh refs.`,
  );
}

describe("the SDK's own client", () => {
  let client: Client;
  const call: CallTool = (name, args = {}) => client.callTool({ name, arguments: args });

  beforeAll(async () => {
    client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'mcp'],
        env: environment(),
      }),
    );
  });
  afterAll(() => client.close());

  test('sees exactly twelve tools, with schemas and annotations, in few words', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const tool of tools) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.outputSchema).toMatchObject({
        type: 'object',
        properties: { ok: { type: 'boolean' } },
      });
      expect(Object.keys(tool.annotations ?? {}).toSorted()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
        'title',
      ]);
    }
    const hints = (name: string) => {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } =
        tools.find((tool) => tool.name === name)?.annotations ?? {};
      return [readOnlyHint, destructiveHint, idempotentHint, openWorldHint];
    };
    expect(hints('browser_snapshot')).toEqual([true, false, true, true]);
    expect(hints('browser_console_messages')).toEqual([true, false, true, false]);
    expect(hints('browser_navigate')).toEqual([false, false, true, true]);
    expect(hints('browser_navigate_back')).toEqual([false, false, false, true]);
    expect(hints('browser_click')).toEqual([false, true, false, true]);
    expect(hints('browser_resize')).toEqual([false, false, true, false]);
    // About 1,700 tokens.
    expect(JSON.stringify(tools).length).toBeLessThan(7_200);
  });

  test('drives all of them', () => driveAll(call));

  test('gets refusals that name the field, what is expected and what is allowed', async () => {
    const cases = [
      {
        name: 'browser_click',
        args: {},
        text: /^INVALID_ARGUMENT: target is required: a string\. /,
      },
      {
        name: 'browser_click',
        args: { target: 'a', button: 'up' },
        text: /button must be one of left, right, middle, not "up"/,
      },
      {
        name: 'browser_click',
        args: { target: 'a', back_color: 1 },
        text: /^INVALID_ARGUMENT: back_color is not a parameter of browser_click; its parameters are target, element, button/,
      },
      {
        name: 'browser_resize',
        args: { width: 0, height: 10 },
        text: /width must be at least 1, not 0/,
      },
      {
        name: 'browser_resize',
        args: { width: 1.5, height: 10 },
        text: /width must be an integer, not 1\.5/,
      },
      { name: 'browser_dom', args: {}, text: /selector is required/ },
      {
        name: 'browser_navigate',
        args: { url: 'file:///etc/passwd' },
        text: /^URL_BLOCKED: file: URLs are not allowed/,
      },
      {
        name: 'browser_evaluate',
        args: { function: '() => { throw new Error("no") }' },
        text: /^EVALUATION_FAILED: The script threw Error: no/,
      },
    ];
    for (const { name, args, text } of cases) {
      const result = await call(name, args);
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { ok: false, code: expect.any(String) },
      });
      expect(result.content[0].text).toMatch(text);
    }
    // The client adds the code to the message, the server does not.
    await expect(call('browser_dance')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^MCP error -32602: Unknown tool "browser_dance"; the tools/),
    });
  });

  test('other names for parameters are understood', async () => {
    await call('browser_navigate', { url: `${site.url}/` });
    for (const args of [{ ref: '#name' }, { selector: '#name' }, { uid: '#name' }]) {
      expect((await call('browser_type', { ...args, text: 'x' })).structuredContent).toMatchObject({
        ok: true,
      });
    }
    for (const args of [{ expression: '1 + 1' }, { script: '1 + 1' }, { function: '() => 2' }]) {
      expect((await call('browser_evaluate', args)).structuredContent.result).toBe(2);
    }
    expect(
      (await call('browser_screenshot', { element: '#name' })).structuredContent.height,
    ).toBeLessThan(60);
    expect(
      (await call('browser_screenshot', { element: 'the whole thing', fullPage: true }))
        .structuredContent,
    ).toMatchObject({ ok: true });
  });

  test('an image is never larger than a model accepts, for every content and option', async () => {
    await call('browser_navigate', { url: `${site.url}/noise` });
    for (const maxDimension of fullTable([0, 1_568], { small: 1 })) {
      const shot = await call('browser_screenshot', { fullPage: true, maxDimension });
      expect(shot.isError).toBeUndefined();
      expect(shot.content[1].mimeType).toBe('image/jpeg');
      expect(shot.content[1].data.length).toBeLessThan(7_000_000);
    }
  });

  test('an error status is reported, and a failed navigation does not affect the next', async () => {
    const missing = await call('browser_navigate', { url: `${site.url}/missing` });
    expect(missing.content[0].text).toContain('- HTTP status: 404 Not Found');
    expect((await call('browser_navigate', { url: 'http://127.0.0.1:1/' })).isError).toBe(true);
    expect((await call('browser_navigate', { url: `${site.url}/` })).isError).toBeUndefined();
  });
});

test('a client of another make drives all of them', async () => {
  const client: MCPClient = await createMCPClient({
    transport: new AiSdkTransport({
      command: process.execPath,
      args: [MAIN, 'mcp'],
      env: environment(),
    }),
  });
  try {
    const tools = await client.tools();
    expect(Object.keys(tools)).toEqual(TOOLS);
    await driveAll(async (name, args = {}) => {
      const tool = tools[name];
      return tool?.execute(args, { messages: [], toolCallId: name });
    });
  } finally {
    await client.close();
  }
});
