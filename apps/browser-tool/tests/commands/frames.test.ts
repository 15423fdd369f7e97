import { page, startSite, type Site } from '../site.ts';
import { isBelow, processesWith } from '../tool-process.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/b': page('B', '<button>Other</button>'),
    '/frame': page(
      'Frame',
      `<button onclick="parent.postMessage('inner', '*'); this.textContent = 'Pressed'">In the frame</button><input aria-label="Frame field">
       <div style="height: 2000px"></div><button id="low" onclick="this.textContent = 'Low pressed'">Low</button>`,
    ),
    '/frameset':
      '<title>Set</title><frameset cols="50%,50%"><frame src="/frame"><frame src="/b"></frameset>',
    '/others': page(
      'Others',
      '<iframe tabindex="-1" src="/b"></iframe><object data="/frame" width="300" height="200"></object>',
    ),
    '/never': () => undefined,
    '/waiting': page(
      'Waiting',
      Array.from({ length: 5 }, () => '<iframe src="/never"></iframe>').join('') + '<p>Text</p>',
    ),
    '/twins': page('Twins', '<button>Same</button><button>Same</button>'),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const click = (target: string, more: object = {}) =>
  tool.post('/click', { target, timeout_ms: 30_000, ...more });

const openFramed = async (origin: string, extra = '') => {
  await tool.open(`${site.url}/b`);
  await tool.post('/evaluate', {
    function: `(source, extra) => new Promise((resolve) => {
      document.body.innerHTML = '<div style="height: 1500px"></div><iframe title="Inner" style="width: 400px; height: 200px; border: 5px solid; padding: 7px"></iframe>' + extra;
      const frame = document.querySelector('iframe');
      frame.onload = () => resolve(1);
      frame.src = source;
      addEventListener('message', ({ data }) => { document.title = data; });
    })`,
    args: [`${origin}/frame`, extra],
  });
};

const refOf = async (pattern: RegExp) => {
  const { text } = (await tool.get('/a11y?format=text')).data as { text: string };
  return pattern.exec(text)?.[1] ?? text;
};

describe.each([
  { kind: 'of the same process', other: false },
  { kind: 'of another process', other: true },
])('a frame $kind', ({ other }) => {
  const openFrame = (extra?: string) => openFramed(other ? site.otherUrl : site.url, extra);

  test('is part of the snapshot, and its refs work', async () => {
    await openFrame();
    const ref = await refOf(/button "In the frame" \[ref=(e\d+)\]/);
    expect((await click(ref)).data).toMatchObject({ clicked: true, target: { ref } });
    expect(await refOf(/button "(Pressed)"/)).toBe('Pressed');
  });

  test('selectors find what no outer document has, below the fold too', async () => {
    await openFrame();
    expect((await click('#low')).data.target).toMatchObject({ name: 'Low' });
    expect(await refOf(/button "(Low pressed)"/)).toBe('Low pressed');
  });

  test.each(['div[', 'xpath=//['])('%s is no selector there either', async (target) => {
    await openFrame();
    expect(await click(target)).toMatchObject({ status: 400, code: 'INVALID_SELECTOR' });
  });

  test('text goes into its fields', async () => {
    await openFrame();
    const answer = await tool.post('/type', {
      target: '[aria-label="Frame field"]',
      text: 'héllo',
    });
    expect(answer.data).toMatchObject({ typed: true, value: 'héllo' });
  });

  test('an overlay of the outer document covers it', async () => {
    await openFrame('<div id="lid" style="position: fixed; inset: 0"></div>');
    const answer = await click('text=In the frame', { timeout_ms: 5_000 });
    expect(answer).toMatchObject({ code: 'ELEMENT_COVERED' });
    expect(answer.error).toMatch(/is covered by <div id="lid"> \[ref=e\d+\]/);
    await tool.post('/evaluate', { expression: 'lid.remove()' });
    expect((await click('iframe', { position: { x: 60, y: 30 } })).data.clicked).toBe(true);
    expect(await refOf(/button "(Pressed)"/)).toBe('Pressed');
  });

  test('its refs are stale once it shows another document', async () => {
    await openFrame();
    const ref = await refOf(/button "In the frame" \[ref=(e\d+)\]/);
    await tool.post('/evaluate', {
      function: `(url) => new Promise((resolve) => { const f = document.querySelector('iframe'); f.onload = () => resolve(1); f.src = url; })`,
      args: [`${site.url}/twins`],
    });
    expect(await click(ref)).toMatchObject({ code: 'STALE_REF' });
  });
});

describe('while the browser is too busy to draw', () => {
  let stopped: number | undefined;
  const stopDrawing = () => {
    // This process tells the browser which frame is drawn where.
    stopped = processesWith('--type=gpu-process').find((pid) => isBelow(pid, process.pid));
    if (stopped === undefined) throw new Error('the browser has no process that draws');
    process.kill(stopped, 'SIGSTOP');
  };
  afterEach(() => {
    if (stopped !== undefined) process.kill(stopped, 'SIGCONT');
    stopped = undefined;
  });

  test('a click goes into a frame that was just scrolled into view', async () => {
    await openFramed(site.otherUrl);
    stopDrawing();
    expect((await click('text=In the frame')).data).toMatchObject({ clicked: true });
    expect(await refOf(/button "(Pressed)"/)).toBe('Pressed');
  });

  test('text does too', async () => {
    await openFramed(site.otherUrl);
    stopDrawing();
    const answer = await tool.post('/type', { target: '[aria-label="Frame field"]', text: 'abc' });
    expect(answer.data).toMatchObject({ typed: true, value: 'abc' });
  });
});

test('a click on an element that hides a frame goes into the frame', async () => {
  await tool.open(`${site.url}/b`);
  await tool.post('/evaluate', {
    function: `(source) => new Promise((resolve) => {
      document.body.innerHTML = '<div id="host"></div>';
      const root = document.querySelector('#host').attachShadow({ mode: 'closed' });
      root.innerHTML = '<iframe style="width: 200px; height: 100px; border: 0"></iframe>';
      root.firstChild.onload = () => resolve(1);
      root.firstChild.src = source;
      window.presses = 0;
      addEventListener('message', () => { window.presses += 1; });
    })`,
    args: [`${site.otherUrl}/frame`],
  });
  expect((await click('#host', { position: { x: 20, y: 20 } })).data.clicked).toBe(true);
  expect((await tool.post('/evaluate', { expression: 'presses' })).data.result).toBe(1);
});

test.each(['/frameset', '/others'])(
  'what %s shows in frames of other kinds is read and used',
  async (path) => {
    await tool.open(`${site.url}${path}`);
    const read = async () => (await tool.get('/a11y?format=text')).data.text as string;
    expect(await read()).toMatch(/button "Other" \[ref=/);
    const ref = /button "In the frame" \[ref=(e\d+)\]/.exec(await read())?.[1] ?? '';
    expect((await click(ref)).data).toMatchObject({ clicked: true });
    expect(await read()).toContain('button "Pressed"');
  },
);

test('frames whose documents never come do not keep others waiting', async () => {
  await tool.post('/navigate', { url: `${site.url}/waiting`, wait_until: 'domcontentloaded' });
  const { data } = await tool.get('/a11y?format=text');
  expect(data.text).toContain('paragraph: Text');
});
