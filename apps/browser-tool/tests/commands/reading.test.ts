import { fullSize } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

const HUGE_ROWS = fullSize(4_000, { small: 1_000 });

const shop = page(
  'Shop',
  `<header><nav aria-label="Main"><ul><li><a href="/orders">Orders</a></li><li><a href="/help" aria-current="page">Help</a></li></ul></nav></header>
   <main><h1>Orders</h1><p>You have <b>two</b> orders.</p>
   <table><caption>Open orders</caption><thead><tr><th>No</th><th>Customer</th><th>Total</th><th></th></tr></thead>
   <tbody><tr><td>1001</td><td>Customer 1</td><td>$13.37</td><td><button>Open</button></td></tr>
   <tr><td>1002</td><td>Customer 2</td><td>$7.00</td><td><button disabled>Open</button></td></tr></tbody></table>
   <form><label>Name <input name="name" value="Ann" required></label>
   <label><input type="checkbox" checked> Subscribe</label>
   <select aria-label="Size"><option>Small</option><option selected>Large</option></select>
   <input type="password" aria-label="Secret" value="hunter2"><button type="submit">Place order</button></form>
   <div id="card" style="cursor: pointer"><span>A card</span></div>
   <img src="data:," alt="A picture"><img src="data:," alt=""><span aria-hidden="true">unseen</span><p hidden>unseen</p>
   <details><summary>More</summary>unseen<p>unseen</p></details><div style="content-visibility: hidden">unseen</div></main>`,
);

beforeAll(async () => {
  site = await startSite({
    '/shop': shop,
    '/long': page(
      'Long',
      `<h1>Long</h1><div style="height: 4000px; background: linear-gradient(red, blue)"></div><p id="end">End</p>`,
    ),
    '/box': page(
      'Box',
      '<style>body { margin: 0 }</style><div id="box" style="width: 100px; height: 50px; background: red"></div>',
    ),
    '/huge': page(
      'Huge',
      Array.from(
        { length: HUGE_ROWS },
        (_, index) =>
          `<div><p>Row ${index}</p><span><a href="#${index}">Link ${index}</a></span><i></i></div>`,
      ).join(''),
    ),
    '/modal': page(
      'Modal',
      '<button>Behind</button><dialog id="ask" aria-label="Sure?"><button onclick="ask.close()">Yes</button></dialog>',
    ),
    '/late': page('Late', `<div id="here" hidden>Here</div>`),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

describe('the accessibility tree', () => {
  beforeAll(() => tool.open(`${site.url}/shop`));

  test('as text: one line per control, rows on one line, no duplicates', async () => {
    const { data } = await tool.get('/a11y?format=text');
    expect((data.text as string).replace(/ref=e\d+/g, 'ref=e1')).toBe(
      `- banner
  - navigation "Main"
    - link "Orders" [ref=e1]
    - link "Help" [current] [ref=e1]
- main
  - heading "Orders" [level=1]
  - paragraph: You have two orders.
  - table "Open orders"
    - row: No | Customer | Total | 
    - row: 1001 | Customer 1 | $13.37 | button "Open" [ref=e1]
    - row: 1002 | Customer 2 | $7.00 | button "Open" [disabled] [ref=e1]
  - textbox "Name" [required] [ref=e1]: Ann
  - checkbox "Subscribe" [checked] [ref=e1]
  - combobox "Size" [ref=e1]: Large (Small, Large)
  - textbox "Secret" [ref=e1]: •••
  - button "Place order" [ref=e1]
  - generic [ref=e1]: A card
  - img "A picture"
  - group
    - button "More" [collapsed] [ref=e1]`,
    );
    expect(data).toMatchObject({
      url: `${site.url}/shop`,
      title: 'Shop',
      ref_count: 11,
      truncated: false,
    });
  });

  test('as a tree', async () => {
    const { data } = await tool.get('/a11y?selector=form');
    expect(data.node_count).toBeGreaterThan(5);
    const nodes = data.nodes as readonly { readonly name: string }[];
    const name = nodes.find((node) => node.name === 'Name');
    expect(name).toEqual({
      role: 'textbox',
      name: 'Name',
      value: 'Ann',
      states: ['required'],
      ref: expect.stringMatching(/^e\d+$/),
      tag: 'input',
      children: [],
    });
  });

  test('what can be acted on alone, with addresses and boxes, not too deep', async () => {
    const { text } = (await tool.get('/a11y?format=text&interactive=true&urls=1')).data;
    expect(text).not.toContain('heading');
    expect(text).toContain(`link "Orders" [ref=`);
    expect(text).toContain(`[url=${site.url}/orders]`);
    const deep = (await tool.get('/a11y?format=text&depth=1&boxes=true')).data.text as string;
    expect(deep.split('\n')).toHaveLength(2);
    expect(deep).toMatch(/\[box=\d+,\d+,\d+,\d+\]/);
  });

  test('behind a modal dialog there is nothing to read', async () => {
    await tool.open(`${site.url}/modal`);
    await tool.post('/evaluate', { expression: 'ask.showModal()' });
    expect((await tool.get('/a11y?format=text')).data.text).toMatch(
      /^- dialog "Sure\?"\n  - button "Yes" \[active\] \[ref=e\d+\]$/,
    );
    await tool.post('/click', { target: 'text=Yes' });
    expect((await tool.get('/a11y?format=text')).data.text).toMatch(/^- button "Behind" /);
  });
});

describe('a page of very many nodes', () => {
  beforeAll(() => tool.open(`${site.url}/huge`));

  test('is read in parts that a cursor joins', async () => {
    const first = (await tool.get('/a11y?format=text&max_chars=20000')).data;
    expect(first.truncated).toBe(true);
    expect(first.node_count).toBeGreaterThan(2 * HUGE_ROWS);
    expect(first.text.length).toBeLessThanOrEqual(20_000);
    const [, rest, cursor] =
      /… (\d+) more nodes, call browser_snapshot with cursor:"(n\d+)"$/.exec(
        first.text as string,
      ) ?? [];
    expect(cursor).toBe(`n${rest}`);
    const last = (first.text as string).split('\n').at(-2) ?? '';
    const second = (await tool.get(`/a11y?format=text&max_chars=20000&cursor=${cursor}`)).data
      .text as string;
    expect(second.split('\n')[0]).not.toBe(last);
    const numberIn = (line: string) => Number(/(\d+)/.exec(line.replace(/ref=e\d+/, ''))?.[1]);
    expect(numberIn(second) - numberIn(last)).toBeLessThanOrEqual(1);
    expect(await tool.get('/a11y?cursor=n999999999&format=text')).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
  });

  test('takes clicks and selectors', async () => {
    const last = HUGE_ROWS - 1;
    expect((await tool.post('/click', { target: `text="Link ${last}"` })).data).toMatchObject({
      url: `${site.url}/huge#${last}`,
    });
  });
});

describe('the DOM', () => {
  test('of one element', async () => {
    await tool.open(`${site.url}/shop`);
    const { data } = await tool.get('/dom?selector=h1&computed=display,color');
    expect(data).toEqual({
      count: 1,
      ref: expect.any(String),
      tag: 'h1',
      text: 'Orders',
      html: '<h1>Orders</h1>',
      attributes: {},
      visible: true,
      rect: {
        x: expect.any(Number),
        y: expect.any(Number),
        width: expect.any(Number),
        height: expect.any(Number),
      },
      computed: { display: 'block', color: 'rgb(0, 0, 0)' },
      truncated: false,
    });
  });

  test('of all that fit, an attribute, inner markup or none', async () => {
    const { data } = await tool.get('/dom?selector=a&all=true&attribute=href&html=none&limit=1');
    expect(data).toMatchObject({ count: 2, attribute: 'href', value: '/orders', truncated: true });
    expect(data.matches).toHaveLength(1);
    expect(data.html).toBeUndefined();
    expect((await tool.get('/dom?selector=nav%20ul%20li&html=inner')).data.html).toBe(
      '<a href="/orders">Orders</a>',
    );
  });

  test('of the whole document, cut', async () => {
    const { data } = await tool.get('/dom?max_chars=200');
    expect(data).toMatchObject({ count: 1, tag: 'html', truncated: true });
    expect(data.html).toHaveLength(200);
  });

  test('of a page that has none any more', async () => {
    await tool.open(`${site.url}/box`);
    await tool.post('/evaluate', { expression: 'document.documentElement.remove()' });
    expect((await tool.get('/dom')).data).toEqual({ count: 0, truncated: false });
    expect((await tool.get('/a11y?format=text')).data).toMatchObject({ text: '', node_count: 0 });
  });

  test('of nothing', async () => {
    expect(await tool.get('/dom?selector=%23nope')).toMatchObject({
      status: 200,
      data: { count: 0, truncated: false },
    });
    expect(await tool.get('/dom?selector=%5B')).toMatchObject({
      status: 400,
      code: 'INVALID_SELECTOR',
    });
  });
});

describe('screenshots', () => {
  const sizeOf = (base64: string): readonly number[] => {
    const bytes = Buffer.from(base64, 'base64');
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  };

  test('of the viewport', async () => {
    await tool.open(`${site.url}/box`);
    const { data } = await tool.post('/screenshot');
    expect(data).toEqual({
      data: expect.any(String),
      mime_type: 'image/png',
      width: 1280,
      height: 720,
      scale: 1,
      bytes: Buffer.from(data.data as string, 'base64').length,
      truncated: false,
    });
    expect(sizeOf(data.data as string)).toEqual([1280, 720]);
  });

  test('of an element, and as raw bytes', async () => {
    const { data } = await tool.post('/screenshot', { target: '#box' });
    expect([data.width, data.height]).toEqual([100, 50]);
    const raw = await fetch(`${tool.url}/screenshot`, {
      method: 'POST',
      body: '{"selector":"#box"}',
      headers: { accept: 'image/*' },
    });
    expect(raw.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await raw.arrayBuffer()).toString('latin1', 1, 4)).toBe('PNG');
  });

  test('of the whole page, no longer than 1568 pixels unless requested', async () => {
    await tool.open(`${site.url}/long`);
    const { data } = await tool.post('/screenshot', { full_page: true });
    expect(data.height).toBe(1568);
    expect(data.scale).toBeLessThan(1);
    const whole = await tool.post('/screenshot', {
      full_page: true,
      max_dimension: 0,
      format: 'jpeg',
      quality: 50,
    });
    expect(whole.data).toMatchObject({ mime_type: 'image/jpeg', width: 1280, scale: 1 });
    expect(whole.data.height).toBeGreaterThan(4_000);
    expect((await tool.post('/screenshot', { format: 'webp' })).data).toMatchObject({
      mime_type: 'image/webp',
      width: 1280,
      height: 720,
    });
  });

  test('of screens with finer pixels no longer than 1568 pixels either', async () => {
    await tool.open(`${site.url}/box`);
    const fine = { width: 1280, height: 720, device_scale_factor: 3 };
    await tool.post('/resize', fine);
    try {
      const { data } = await tool.post('/screenshot');
      expect(data).toMatchObject({ width: 1568, height: 882 });
      expect(sizeOf(data.data as string)).toEqual([1568, 882]);
      expect(data.scale).toBeCloseTo(1568 / 3840);
      expect((await tool.post('/screenshot', { max_dimension: 0 })).data).toMatchObject({
        width: 3840,
        height: 2160,
        scale: 1,
      });
      const box = (await tool.post('/screenshot', { target: '#box' })).data;
      expect([box.width, box.height]).toEqual([300, 150]);
    } finally {
      await tool.post('/resize', { ...fine, device_scale_factor: 1 });
    }
  });

  test('of what was scrolled to', async () => {
    await tool.open(`${site.url}/long`);
    const { data } = await tool.post('/screenshot', { target: '#end' });
    expect(data.height).toBeLessThan(100);
    expect(await tool.post('/screenshot', { target: '#nope', timeout_ms: 200 })).toMatchObject({
      code: 'ELEMENT_NOT_FOUND',
    });
  });

  test('with more pixels than the page has', async () => {
    await tool.post('/resize', { width: 400, height: 300, device_scale_factor: 2 });
    expect((await tool.get('/viewport')).data).toEqual({ viewport: [400, 300] });
    expect((await tool.post('/screenshot')).data).toMatchObject({ width: 800, height: 600 });
    expect((await tool.post('/resize', { width: 1280, height: 720 })).data).toEqual({
      viewport: [1280, 720],
    });
    expect(
      (await tool.post('/evaluate', { expression: '[innerWidth, innerHeight]' })).data.result,
    ).toEqual([1280, 720]);
  });
});

describe('waiting for an element', () => {
  test.each([
    { state: 'visible', count: 1, change: 'here.hidden = false' },
    { state: 'attached', count: 1, change: 'document.body.append(here)', before: 'here.remove()' },
    { state: 'hidden', count: 1, change: 'here.hidden = true', before: 'here.hidden = false' },
    { state: 'detached', count: 0, change: 'here.remove()', before: 'here.hidden = false' },
  ])('until it is $state', async ({ state, count, change, before = '0' }) => {
    await tool.open(`${site.url}/late`);
    await tool.post('/evaluate', {
      expression: `globalThis.here = document.getElementById('here'); ${before}; setTimeout(() => { ${change} }, 200); 0`,
    });
    expect((await tool.post('/wait-for-selector', { selector: '#here', state })).data).toEqual({
      selector: '#here',
      found: true,
      count,
      state,
      elapsed_ms: expect.any(Number),
    });
  });

  test('in vain is no failure unless it is required', async () => {
    const body = { selector: '#nope', timeout_ms: 200 };
    expect(await tool.post('/wait-for-selector', body)).toMatchObject({
      status: 200,
      data: { found: false, count: 0 },
    });
    expect(await tool.post('/wait-for-selector', { ...body, required: true })).toMatchObject({
      status: 504,
      code: 'TIMEOUT',
    });
  });
});
