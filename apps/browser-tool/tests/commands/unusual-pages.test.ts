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
  expect(data).toMatchObject({ text: '- text: Text', truncated: true });
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
