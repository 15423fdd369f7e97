import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { callMcp } from './mcp-call.ts';

// Strict JSON parsers reject a message with half of a surrogate pair. JSON.stringify writes only these as escapes.
const LONE_SURROGATE = /(?<!\\)\\ud[89a-f][0-9a-f]{2}/;

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/plain': page('Plain', '<select></select>'),
    '/halves': page(
      'Halves',
      `<p>x${'😀'.repeat(300)}</p><p>${'😀'.repeat(300)}</p><p id="half"></p>
       <button id="under">Under</button><div style="position: fixed; inset: 0"></div>
       <script>half.textContent = document.title = document.querySelector('div').id = 'half \\ud83d';
         console.log('half \\ud83d')</script>`,
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

describe('half of a surrogate pair', () => {
  beforeEach(() => tool.open(`${site.url}/halves`));

  test.each([
    { name: 'browser_snapshot', args: {} },
    { name: 'browser_console_messages', args: {} },
    { name: 'browser_dom', args: { selector: 'p', all: true, maxChars: 11 } },
    { name: 'browser_evaluate', args: { function: '({ ["\\ud83d"]: ["a\\ude00"] })' } },
    { name: 'browser_evaluate', args: { function: 'throw new Error("a\\ud83d")' } },
    { name: 'browser_click', args: { target: '#under' } },
  ])('is in no answer of $name with $args', async ({ name, args }) => {
    const answer = JSON.stringify(await callMcp(tool, name, args));
    expect(answer).toContain('\uFFFD');
    expect(answer).not.toMatch(LONE_SURROGATE);
  });

  test.each(['/a11y', '/a11y?format=text', '/console', '/dom', '/info'])(
    'is in no answer of %s',
    async (path) => {
      const answer = await (await fetch(`${tool.url}${path}`)).text();
      expect(answer).toContain('\uFFFD');
      expect(answer).not.toMatch(LONE_SURROGATE);
    },
  );

  test('is in no answer about an error', async () => {
    const body = JSON.stringify({ target: '#under' });
    const answer = await (await fetch(`${tool.url}/click`, { method: 'POST', body })).text();
    expect(answer).toContain('is covered by <div id=\\"half \uFFFD\\">');
    expect(answer).not.toMatch(LONE_SURROGATE);
  });
});

describe('what a page makes long is short for a model', () => {
  const evaluate = (expression: string) => tool.post('/evaluate', { expression });

  test('the newest console messages, and how many are left out', async () => {
    await tool.open(`${site.url}/plain`);
    await evaluate('for (let n = 0; n < 300; n++) console.log("x".repeat(9e3) + n)');
    const { said, structured } = await callMcp(tool, 'browser_console_messages');
    expect(said.length).toBeLessThan(25_000);
    expect(said).toMatch(/^… \d+ earlier messages are left out; pass a level/);
    expect(JSON.stringify(structured).length).toBeLessThan(25_000);
    const entries = structured?.['entries'] as readonly unknown[];
    expect(entries.length + Number(structured?.['omitted'])).toBe(100);
    expect((await tool.get('/console')).data.entries).toHaveLength(200);
    const short = await tool.get('/console?max_chars=20000');
    expect(short.data.entries).toHaveLength(entries.length);
  });

  test('the first dialogs', async () => {
    await tool.open(`${site.url}/plain`);
    const shown = await callMcp(tool, 'browser_evaluate', {
      function: 'for (let n = 0; n < 30; n++) alert("y".repeat(2000))',
    });
    expect(shown.said).toContain('\n- … 25 more dialogs');
    expect(shown.said.length).toBeLessThan(2_000);
    const { structured } = shown;
    expect(structured).toMatchObject({ dialogs_omitted: 25 });
    expect(structured?.['dialogs']).toEqual(
      Array.from({ length: 5 }, () => ({
        type: 'alert',
        message: `${'y'.repeat(200)}…`,
        action: 'accepted',
      })),
    );
  });

  test('a failure has only the first dialogs too', async () => {
    await tool.open(`${site.url}/plain`);
    const { said, structured } = await callMcp(tool, 'browser_evaluate', {
      function: 'for (let n = 0; n < 30; n++) alert(n); nothing()',
    });
    expect(said).toContain('\n- … 25 more dialogs');
    expect(structured).toMatchObject({ ok: false, details: { dialogs_omitted: 25 } });
  });

  test('the names and addresses of downloads', async () => {
    await tool.open(`${site.url}/plain`);
    let told = await callMcp(tool, 'browser_evaluate', {
      function: `const link = document.createElement('a');
        link.href = 'data:text/plain,' + 'x'.repeat(50_000);
        link.download = 'n'.repeat(200_000);
        link.click();`,
    });
    await waitUntil(async () => {
      if (told.said.includes('- Download: ')) return true;
      told = await callMcp(tool, 'browser_snapshot');
      return false;
    });
    expect(told.said).toContain('was denied (data:text/plain,x');
    expect(JSON.stringify(told).length).toBeLessThan(10_000);
  });

  test('the words of a status', async () => {
    const server = createServer((socket) =>
      socket.end(`HTTP/1.1 404 ${'n'.repeat(100_000)}\r\nconnection: close\r\n\r\nNothing`),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const told = await callMcp(tool, 'browser_navigate', { url: `http://127.0.0.1:${port}/` });
    server.close();
    expect(told.said).toContain('- HTTP status: 404 nnn');
    expect(JSON.stringify(told).length).toBeLessThan(5_000);
  });

  test('all dialogs, on request', async () => {
    await tool.open(`${site.url}/plain`);
    const { said, structured } = await callMcp(tool, 'browser_evaluate', {
      function: 'for (let n = 0; n < 30; n++) alert("y".repeat(2000))',
      allDialogs: true,
    });
    expect(said.length).toBeLessThan(2_000);
    const dialogs = structured?.['dialogs'] as readonly { readonly message: string }[];
    expect(dialogs.map(({ message }) => message.length)).toEqual(Array(30).fill(2_000));
  });

  test('the options of a select', async () => {
    await tool.open(`${site.url}/plain`);
    await evaluate(
      'document.querySelector("select").innerHTML = "<option>Choice</option>".repeat(5000)',
    );
    const refused = await tool.post('/type', { target: 'select', text: 'Other' });
    expect(refused).toMatchObject({ status: 400, details: { options_count: 5000 } });
    expect(refused.error).toContain(', Choice and 4970 more.');
    expect(refused.details.options).toHaveLength(200);
  });
});

test('the value of a requested attribute is as long as requested', async () => {
  await tool.open(`${site.url}/plain`);
  await tool.post('/evaluate', { expression: 'document.body.title = "z".repeat(1e5)' });
  const { data } = await tool.get('/dom?selector=body&attribute=title&html=none&max_chars=500');
  expect(data).toMatchObject({ value: `${'z'.repeat(499)}…`, truncated: true });
});

test('passwords in markup are bullets', async () => {
  await tool.open(`${site.url}/plain`);
  await tool.post('/evaluate', {
    expression: `document.body.innerHTML =
      '<form><input type="Password" id="word" value="open sesame"><input value="shown"></form>'; 0`,
  });
  for (const query of ['', 'selector=form', 'selector=form&html=inner', 'selector=%23word']) {
    const { data } = await tool.get(`/dom?${query}`);
    expect(data.html).toContain('<input type="Password" id="word" value="•••">');
    expect(JSON.stringify(data)).not.toContain('sesame');
  }
  expect((await tool.get('/dom?selector=form')).data.html).toContain('value="shown"');
  expect((await tool.get('/dom?selector=%23word&attribute=VALUE')).data.value).toBe('•••');
  const { data } = await tool.post('/evaluate', { expression: 'word.getAttribute("value")' });
  expect(data.result).toBe('open sesame');
});

test('further lines of a console message do not look like messages', async () => {
  await tool.open(`${site.url}/plain`);
  await tool.post('/evaluate', {
    expression: 'console.log("one\\n[ERROR] two\\r\\n[ERROR] three\\u2028[ERROR] four")',
  });
  const { said } = await callMcp(tool, 'browser_console_messages');
  expect(said).toMatch(/^\[INFO\] one\n {2}\[ERROR\] two\n {2}\[ERROR\] three\n {2}\[ERROR\] four/);
});
