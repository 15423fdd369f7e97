import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

const NESTED = 450;
const nested = (open: string, close: string): string =>
  `${open.repeat(NESTED)}<button>Innermost</button>${close.repeat(NESTED)}`;

beforeAll(async () => {
  site = await startSite({
    '/boxes': page('Boxes', nested('<div>', '</div>')),
    '/regions': page('Regions', nested('<section aria-label="In">', '</section>')),
    '/drawing': page(
      'Drawing',
      `<p>Before <svg width="10" height="10"><circle r="5"/></svg> after</p>
       <svg width="200" height="100"><title>Map</title><text y="20">Unsaid</text>
       <g><circle cx="50" cy="50" r="20" tabindex="0" onclick="document.title = 'dot'"><title>Dot</title></circle></g>
       <a href="/there"><text x="100" y="50">There</text></a></svg>`,
    ),
    '/form': page(
      'Form',
      `<form aria-label="Trip"><label>Guests <input name="guests"></label><button type="button">Book</button>
       <select aria-label="Room"><option>Any</option><optgroup label="Large"><option>Suite</option></optgroup></select></form>`,
    ),
    '/mail': page(
      'Mail',
      `<iframe sandbox srcdoc="<button>Shown</button><button id='unseen' hidden>Hidden</button><input aria-label='Reply'>"></iframe>
       <iframe sandbox style="margin-top: 3000px" srcdoc="<button>Below</button>"></iframe>`,
    ),
    '/lines': page('Lines', '<a href="/q">q<br>w</a>'),
    '/shadow': page(
      'Shadow',
      `<button>Light</button><my-card><i>slotted</i></my-card><script>
        const card = document.querySelector('my-card').attachShadow({ mode: 'open' });
        card.innerHTML = '<section><slot></slot><div id="inner"></div></section>';
        card.getElementById('inner').attachShadow({ mode: 'open' }).innerHTML =
          '<button class="deep" onclick="document.title = 1">Deep</button>';
      </script>`,
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const text = async (query = ''): Promise<string> =>
  ((await tool.get(`/a11y?format=text${query}`)).data.text as string).replace(/ref=e\d+/g, 'ref');

test('what lies in very many boxes is read all the same', async () => {
  await tool.open(`${site.url}/boxes`);
  expect(await text()).toBe('- button "Innermost" [ref]');
  await tool.open(`${site.url}/regions`);
  const { data } = await tool.get('/a11y');
  expect(data).toMatchObject({ node_count: NESTED + 1, ref_count: 1, truncated: false });
  expect(await text('&max_chars=1000000')).toMatch(/- button "Innermost" \[ref\]$/);
});

test('too many elements are cut, and the response reports it', async () => {
  await tool.open('about:blank');
  await tool.post('/evaluate', {
    function: `() => {
      let box = document.body;
      for (let depth = 0; depth < 1500; depth += 1) {
        if (depth === 900) box.append('Text');
        box = box.appendChild(document.createElement('div'));
      }
    }`,
  });
  const { data } = await tool.get('/a11y?format=text');
  const more =
    '… the page has more elements than a snapshot can hold; pass target to read a part of it';
  expect(data).toMatchObject({ text: `- text: Text\n${more}`, truncated: true });
});

test('the parts of a drawing that can be acted on are there', async () => {
  await tool.open(`${site.url}/drawing`);
  expect(await text('&urls=true')).toBe(
    `- paragraph: Before after
- img "Map"
  - generic "Dot" [ref]
  - link "There" [ref] [url=/there]`,
  );
  await tool.post('/click', { target: 'circle[tabindex]' });
  expect((await tool.get('/info')).data.title).toBe('dot');
});

test('lines of a name are separate, and it is shown once', async () => {
  await tool.open(`${site.url}/lines`);
  expect(await text()).toBe('- link "q w" [ref]');
});

test('XPath finds what is in shadow roots', async () => {
  await tool.open(`${site.url}/shadow`);
  const count = async (selector: string): Promise<number> => {
    const answer = await tool.get(`/dom?all=true&selector=${encodeURIComponent(selector)}`);
    if (!answer.ok) throw new Error(answer.error);
    return answer.data.count as number;
  };
  expect(await count('xpath=//button')).toBe(2);
  expect(await count('//my-card//button[@class="deep"]')).toBe(1);
  expect(await count('//my-card/i')).toBe(1);
  expect(await count('xpath=(//button)[1]')).toBe(1);
  expect(await count('//button[.="None"]')).toBe(0);
  expect((await tool.post('/click', { target: '//button[.="Deep"]' })).data).toMatchObject({
    clicked: true,
    title: '1',
  });
});

// A form has its fields as properties, in place of its own.
test.each(['children', 'attributes', 'matches', 'parentElement', 'isConnected', 'shadowRoot'])(
  'a form with a field named %s is read and used',
  async (name) => {
    await tool.open(`${site.url}/form`);
    await tool.post('/evaluate', {
      expression: `document.querySelector('input').name = '${name}'`,
    });
    expect(await text()).toMatch(/^- form "Trip"\n {2}- textbox "Guests" \[ref\]\n/);
    const { data } = await tool.post('/click', { target: 'text=Book' });
    expect(data.target).toMatchObject({ role: 'button', name: 'Book' });
    expect((await tool.post('/type', { target: 'input', text: '2' })).data.value).toBe('2');
    expect((await tool.post('/click', { target: 'form' })).ok).toBe(true);
    expect((await tool.get('/dom?selector=form')).data).toMatchObject({
      attributes: { 'aria-label': 'Trip' },
    });
  },
);

test('the interactive elements show all options of a select', async () => {
  await tool.open(`${site.url}/form`);
  expect(await text('&interactive=true')).toContain('- combobox "Room" [ref]: Any (Any, Suite)');
});

// There the browser calls no timers and observers, and reports each try as an error of the page.
test('a frame without scripts is used like others', async () => {
  await tool.open(`${site.url}/mail`);
  await tool.delete('/console');
  expect((await tool.post('/click', { target: 'text=Shown' })).ok).toBe(true);
  expect((await tool.post('/type', { target: 'input', text: 'Yes' })).data.value).toBe('Yes');
  const hidden = await tool.post('/click', { target: '#unseen', timeout_ms: 100 });
  expect(hidden.code).toBe('ELEMENT_NOT_VISIBLE');
  expect(hidden.error).toContain('after waiting 100 ms');
  expect((await tool.post('/click', { target: 'text=Below' })).ok).toBe(true);
  const { entries } = (await tool.get('/console?level=error')).data;
  expect(JSON.stringify(entries)).not.toContain('script execution');
});
