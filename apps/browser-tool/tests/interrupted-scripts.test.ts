import { page, startSite, type Site } from './site.ts';
import { startTool, type ToolUnderTest } from './tool.ts';

let site: Site;
let tool: ToolUnderTest;

const ROUNDS = 3;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<button>Go</button>'),
    // It is busy nearly all the time, but never for long.
    '/busy': page(
      'Busy',
      `<script>
         let rounds = 0;
         const work = () => {
           for (const end = performance.now() + 50; performance.now() < end;);
           rounds += 1;
           setTimeout(work);
         };
         work();
       </script>`,
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

test('a frame that appears while a script is ended can be read', async () => {
  // The tool's own scripts start in every new frame, so that they are most of what runs, and is ended.
  const expression = `for (let frame;;) {
    frame?.remove();
    frame = document.body.appendChild(document.createElement('iframe'));
  }`;
  for (let round = 0; round < ROUNDS; round += 1) {
    await tool.open(`${site.url}/`);
    expect(await tool.post('/evaluate', { expression, timeout_ms: 300 })).toMatchObject({
      code: 'TIMEOUT',
    });
    const { data } = await tool.get('/a11y?format=text');
    expect(data.text).toMatch(/^- button "Go" \[ref=e\d+\]\n- iframe \[ref=e\d+\]$/);
  }
});

test('a timeout does not end the scripts of a page that is only busy', async () => {
  const rounds = async () =>
    Number((await tool.post('/evaluate', { expression: 'rounds' })).data.result);
  for (let round = 0; round < ROUNDS; round += 1) {
    await tool.open(`${site.url}/busy`);
    const wait = { selector: '#none', timeout_ms: 100, required: true };
    expect(await tool.post('/wait-for-selector', wait)).toMatchObject({ code: 'TIMEOUT' });
    const before = await rounds();
    const more = `new Promise((resolve) => setInterval(() => rounds > ${before} && resolve(1), 10))`;
    expect(await tool.post('/evaluate', { expression: more, timeout_ms: 10_000 })).toMatchObject({
      ok: true,
    });
  }
});
