import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Keys',
      `<input id="field" onkeydown="keys.push(event.key)"><input id="other">
       <input id="off" disabled><input id="hidden" style="display: none"><div id="text">Text</div>
       <label id="label">Name <input id="named"></label><div id="box"><input id="inside"></div>
       <script>keys = []</script>`,
    ),
    '/frame': page(
      'Frame',
      '<input aria-label="Inner" onkeydown="parent.postMessage(event.key, `*`)">',
    ),
    '/frames': page(
      'Frames',
      '<iframe></iframe><script>addEventListener("message", ({ data }) => { document.title = data; })</script>',
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const press = (key: string, target?: string) =>
  tool.post('/press', { key, target, timeout_ms: 1_000 });
const evaluate = async (expression: string): Promise<unknown> =>
  (await tool.post('/evaluate', { expression })).data.result as unknown;

describe('a key', () => {
  beforeEach(() => tool.open(`${site.url}/`));

  test.each([
    { key: 'Shift+a', types: 'A' },
    { key: 'Shift+A', types: 'A' },
    { key: 'Shift+1', types: '!' },
    { key: 'Shift+Slash', types: '?' },
    { key: 'KeyB', types: 'b' },
    { key: 'Digit5', types: '5' },
    { key: 'Minus', types: '-' },
    { key: 'a', types: 'a' },
    { key: 'A', types: 'A' },
    { key: 'é', types: 'é' },
  ])('$key types $types', async ({ key, types }) => {
    expect(await press(key, '#field')).toMatchObject({ ok: true });
    expect(await evaluate('field.value')).toBe(types);
  });

  test('of a chord with Shift is the one that a keyboard reports', async () => {
    await press('Control+Shift+k', '#field');
    await press('Control+k', '#field');
    expect(await evaluate('keys')).toEqual(['Control', 'Shift', 'K', 'Control', 'k']);
  });

  test.each([
    { target: '#off', code: 'ELEMENT_DISABLED' },
    { target: '#hidden', code: 'ELEMENT_NOT_VISIBLE' },
    { target: '#text', code: 'INVALID_ARGUMENT' },
  ])('for $target, which cannot get it, is not pressed elsewhere', async ({ target, code }) => {
    await evaluate('other.focus()');
    expect(await press('x', target)).toMatchObject({ code });
    expect(await evaluate('other.value')).toBe('');
  });

  test('for a label, for what contains the focus, and for the page arrives', async () => {
    await press('x', '#label');
    expect(await evaluate('named.value')).toBe('x');
    await evaluate('inside.focus()');
    await press('y', '#box');
    expect(await evaluate('inside.value')).toBe('y');
    expect(await press('z', 'body')).toMatchObject({ ok: true });
    expect(await evaluate('inside.value')).toBe('y');
  });
});

test.each(['url', 'otherUrl'] as const)('a key for a frame of %s arrives there', async (origin) => {
  await tool.open(`${site.url}/frames`);
  await tool.post('/evaluate', {
    function: `(url) => new Promise((resolve) => {
      const frame = document.querySelector('iframe');
      frame.onload = () => resolve(1);
      frame.src = url;
    })`,
    args: [`${site[origin]}/frame`],
  });
  expect(await press('q', '[aria-label=Inner]')).toMatchObject({ ok: true });
  expect((await tool.get('/dom?selector=[aria-label=Inner]')).data.count).toBe(1);
  const inner = { function: 'element.value', target: '[aria-label=Inner]' };
  expect((await tool.post('/evaluate', inner)).data.result).toBe('q');
});
