import type { ServerResponse } from 'node:http';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;
/** The responses that a test ends itself. */
const held: ServerResponse[] = [];

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Start',
      `<a id="go" href="/next">Next</a>
       <a id="later" href="#" onclick="setTimeout(() => { location.href = '/next' }); return false">Later</a>
       <a id="tab" href="/next" target="_blank">Tab</a>
       <button id="pop" onclick="window.open('/next')">Pop</button>
       <a id="load" href="/file">Load</a>
       <a id="nothing" href="/empty">Nothing</a>
       <a id="dead" href="http://127.0.0.1:1/">Dead</a>
       <button id="alert" onclick="alert('Hi'); document.title = 'alerted'">Alert</button>
       <button id="confirm" onclick="document.title = confirm('Delete?')">Confirm</button>
       <button id="prompt" onclick="document.title = prompt('Name?', 'Ann')">Prompt</button>
       <button id="fetch" onclick="fetch('/slow').then((r) => r.text()).then((t) => { out.textContent = t })">Fetch</button>
       <button id="busy" onclick="setInterval(() => { out.textContent = Math.random() }, 5)">Busy</button>
       <button id="events">Events</button><output id="out"></output>
       <script>
         for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'])
           events.addEventListener(type, (event) => {
             event.preventDefault();
             out.textContent += [type, event.button, event.isTrusted, event.shiftKey, event.ctrlKey, event.detail, event.offsetX].join(',') + ';';
           });
       </script>`,
    ),
    '/next': page('Next page', '<h1>Next</h1><button onclick="window.close()">Close</button>'),
    '/slow': (_request, response) => void setTimeout(() => response.end('fetched'), 200),
    '/held': (_request, response) => void held.push(response),
    '/empty': (_request, response) => response.writeHead(204).end(),
    '/file': (_request, response) =>
      response
        .writeHead(200, { 'content-disposition': 'attachment; filename="report.bin"' })
        .end('x'),
    '/form': page(
      'Form',
      `<form action="/sent" novalidate>
         <label for="name">Name</label><input id="name" name="name" value="old">
         <input id="secret" type="password" aria-label="Secret">
         <input id="number" type="number" aria-label="Number">
         <input id="mail" type="email" aria-label="Mail" value="a@">
         <input id="date" type="date" aria-label="Date"><input id="range" type="range" aria-label="Range">
         <textarea id="area" aria-label="Area"></textarea>
         <select id="size" aria-label="Size"><option value="s">Small</option><option value="l">Large</option></select>
         <div id="rich" contenteditable="true" aria-label="Rich">rich <b>text</b></div>
         <button>Send</button>
       </form><pre id="log"></pre>
       <script>
         for (const type of ['keydown', 'input', 'change'])
           document.addEventListener(type, (event) => { log.textContent += type + ':' + (event.key ?? event.target.id) + ' '; });
       </script>`,
    ),
    '/sent': page('Sent', 'thanks'),
    '/vanish': page('Vanish', '<button id="late" style="visibility: hidden">Late</button>'),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const text = async (selector: string): Promise<string> =>
  (await tool.get(`/dom?selector=${encodeURIComponent(selector)}`)).data.text as string;
const click = (target: string, more: object = {}) => tool.post('/click', { target, ...more });

describe('a click', () => {
  beforeEach(() => tool.open(`${site.url}/`));

  test('answers which element it was and where the page is', async () => {
    expect((await click('#events')).data).toEqual({
      clicked: true,
      target: {
        ref: expect.stringMatching(/^e\d+$/),
        role: 'button',
        name: 'Events',
        tag: 'button',
      },
      navigated: false,
      url: `${site.url}/`,
      title: 'Start',
      dialogs: [],
      elapsed_ms: expect.any(Number),
    });
    expect(await text('#out')).toMatch(
      /^mousedown,0,true,.*;mouseup,0,true,.*;click,0,true,false,false,1,/,
    );
  });

  test('with another button, twice, with keys held, at a place', async () => {
    await click('#events', { button: 'right' });
    expect(await text('#out')).toContain('contextmenu,2,true');
    await click('#events', { button: 'middle' });
    expect(await text('#out')).toContain('auxclick,1,true');
    await click('#events', { double: true });
    expect(await text('#out')).toContain('dblclick,0,true');
    await click('#events', { modifiers: ['Shift', 'ControlOrMeta'], position: { x: 3, y: 4 } });
    expect(await text('#out')).toMatch(/click,0,true,true,true,1,[0-3];$/);
  });

  test.each(['#go', '#later'])('that navigates (%s) waits for the new page', async (target) => {
    expect((await click(target)).data).toMatchObject({
      navigated: true,
      url: `${site.url}/next`,
      title: 'Next page',
    });
  });

  test.each(['#tab', '#pop'])(
    'that opens a tab (%s) makes it the page, and closing it goes back',
    async (target) => {
      const { data } = await click(target);
      expect(data).toMatchObject({
        opened_tab: { url: `${site.url}/next` },
        url: `${site.url}/next`,
        title: 'Next page',
      });
      expect((await tool.get('/a11y?format=text')).data.text).toContain('heading "Next"');
      await tool.post('/evaluate', { expression: 'window.close()' });
      await tool.post('/wait-for-selector', { selector: '#tab' });
      expect((await tool.get('/info')).data.url).toBe(`${site.url}/`);
    },
  );

  test('that starts a download is reported, and nothing is downloaded', async () => {
    expect((await click('#load')).data).toMatchObject({
      clicked: true,
      url: `${site.url}/`,
      downloads: [{ url: `${site.url}/file`, filename: 'report.bin', action: 'denied' }],
    });
  });

  test('whose navigation has no page leaves the page', async () => {
    expect((await click('#nothing')).data).toMatchObject({ navigated: false, url: `${site.url}/` });
  });

  test('whose navigation fails returns the address of the page, and the tab still works', async () => {
    expect((await click('#dead')).data).toMatchObject({
      navigated: true,
      url: 'http://127.0.0.1:1/',
    });
    expect((await tool.open(`${site.url}/`)).data.title).toBe('Start');
  });

  test('waits for the requested response', async () => {
    await click('#fetch');
    expect(await text('#out')).toBe('fetched');
  });

  test('does not wait for a page that never rests', async () => {
    const { data } = await click('#busy');
    expect(data.elapsed_ms).toBeGreaterThan(900);
  });
});

describe('dialogs', () => {
  beforeAll(() => tool.open(`${site.url}/`));

  test.each([
    {
      target: '#alert',
      body: {},
      dialog: { type: 'alert', message: 'Hi', action: 'accepted' },
      title: 'alerted',
    },
    {
      target: '#confirm',
      body: {},
      dialog: { type: 'confirm', message: 'Delete?', action: 'dismissed' },
      title: 'false',
    },
    {
      target: '#confirm',
      body: { dialog: 'accept' },
      dialog: { type: 'confirm', message: 'Delete?', action: 'accepted' },
      title: 'true',
    },
    {
      target: '#prompt',
      body: {},
      dialog: { type: 'prompt', message: 'Name?', action: 'dismissed' },
      title: 'null',
    },
    {
      target: '#prompt',
      body: { dialog: 'accept' },
      dialog: { type: 'prompt', message: 'Name?', action: 'accepted' },
      title: 'Ann',
    },
    {
      target: '#prompt',
      body: { dialog: 'accept', prompt_text: 'Bob' },
      dialog: { type: 'prompt', message: 'Name?', action: 'accepted' },
      title: 'Bob',
    },
  ])('$target with $body is answered and reported', async ({ target, body, dialog, title }) => {
    expect((await click(target, body)).data).toMatchObject({ dialogs: [dialog], title });
  });

  test('one that opens between calls is reported by the next', async () => {
    const notified = new Promise<void>((resolve) => {
      const stop = tool.tool.session.captures.events.listen((kind) => {
        if (kind !== 'dialog') return;
        stop();
        resolve();
      });
    });
    await tool.post('/evaluate', {
      expression: 'void fetch("/held").then(() => alert("late")); 0',
    });
    await waitUntil(() => held.length > 0);
    held.pop()?.end();
    await notified;
    const { data } = await tool.post('/evaluate', { expression: '1' });
    expect(data.dialogs).toEqual([{ type: 'alert', message: 'late', action: 'accepted' }]);
  });
});

describe('typing into a form as it was sent', () => {
  const restore =
    "document.forms[0].reset(); rich.innerHTML = 'rich <b>text</b>'; log.textContent = ''";
  beforeAll(() => tool.open(`${site.url}/form`));
  beforeEach(() => tool.post('/evaluate', { expression: restore }));

  test('replaces what was there and answers the value', async () => {
    expect((await tool.post('/type', { target: '#name', text: 'new €' })).data).toEqual({
      typed: true,
      value: 'new €',
      target: { ref: expect.any(String), role: 'textbox', name: 'Name', tag: 'input' },
      navigated: false,
      url: `${site.url}/form`,
      title: 'Form',
      dialogs: [],
      elapsed_ms: expect.any(Number),
    });
    expect(await text('#log')).toBe('input:name');
  });

  test.each([
    { target: '#name', body: { clear_first: false }, text: '!', value: 'old!' },
    { target: '#name', body: { clearFirst: false, slowly: true }, text: 'A b', value: 'oldA b' },
    { target: '#name', body: {}, text: '', value: '' },
    { target: '#secret', body: {}, text: 'hunter2', value: '•••' },
    { target: '#number', body: {}, text: '42', value: '42' },
    { target: '#mail', body: { clear_first: false }, text: 'b', value: 'a@b' },
    { target: '#date', body: {}, text: '2026-02-03', value: '2026-02-03' },
    { target: '#range', body: {}, text: '70', value: '70' },
    { target: '#area', body: {}, text: 'one\ntwo', value: 'one\ntwo' },
    { target: '#area', body: { slowly: true }, text: 'one\ntwo', value: 'one\ntwo' },
    {
      target: '#area',
      body: { slowly: true },
      text: 'a\tb\r\nc\rd\u00a0e',
      value: 'a\tb\nc\nd\u00a0e',
    },
    { target: '#size', body: {}, text: 'Large', value: 'Large' },
    { target: '#size', body: {}, text: 'l', value: 'Large' },
    { target: '#rich', body: {}, text: 'plain', value: 'plain' },
    { target: '#rich', body: { clear_first: false }, text: ' more', value: 'rich text more' },
  ])('$text into $target gives $value', async ({ target, body, text: typed, value }) => {
    expect((await tool.post('/type', { target, text: typed, ...body })).data).toMatchObject({
      value,
    });
  });

  test('slowly presses every key', async () => {
    await tool.post('/type', { target: '#name', text: 'ab', slowly: true });
    expect(await text('#log')).toBe('keydown:a input:name keydown:b input:name');
  });
});

describe('typing', () => {
  beforeEach(() => tool.open(`${site.url}/form`));

  test('an option that does not exist is refused with those that do', async () => {
    const answer = await tool.post('/type', { target: '#size', text: 'Huge' });
    expect(answer).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      details: { options: ['Small', 'Large'] },
    });
  });

  test('submit presses Enter and waits for the next page', async () => {
    const { data } = await tool.post('/type', { target: '#name', text: 'Ann', submit: true });
    expect(data).toMatchObject({ navigated: true, value: 'Ann', title: 'Sent' });
    expect(data.url).toContain('/sent?name=Ann');
  });

  test('an option of a closed select is taken by a click', async () => {
    expect(await click('option[value=l]')).toMatchObject({ ok: true });
    expect((await tool.post('/evaluate', { expression: 'size.value' })).data.result).toBe('l');
  });
});

describe('keys', () => {
  beforeEach(() => tool.open(`${site.url}/form`));

  test('a chord acts on what has the focus', async () => {
    await click('#name');
    expect((await tool.post('/press', { key: 'Control+A' })).data).toEqual({
      pressed: 'Control+A',
      navigated: false,
      url: `${site.url}/form`,
      title: 'Form',
      dialogs: [],
    });
    await tool.post('/press', { key: 'Backspace' });
    expect(
      (await tool.post('/evaluate', { function: '() => document.getElementById("name").value' }))
        .data.result,
    ).toBe('');
  });

  test('a target gets the focus first, and a count repeats', async () => {
    await tool.post('/press', { key: 'x', target: '#area', count: 3 });
    expect((await tool.post('/evaluate', { function: '() => area.value' })).data.result).toBe(
      'xxx',
    );
    expect((await tool.post('/press', { key: 'Enter', target: '#name' })).data).toMatchObject({
      navigated: true,
      title: 'Sent',
    });
  });

  test('a key that does not exist is refused', async () => {
    const chord = await tool.post('/press', { key: 'Control+Foo' });
    expect(chord).toMatchObject({ status: 400, code: 'INVALID_KEY' });
    expect(chord.error).toMatch(/^"Foo" in "Control\+Foo" is not a key\. Use a character, /);
    expect((await tool.post('/press', { key: 'Foo' })).error).toMatch(/^"Foo" is not a key\. /);
  });
});

describe('a page that navigates while a command runs', () => {
  const LEAVE = 'setTimeout(() => { location.href = "/next" }, 200)';
  beforeEach(() => tool.open(`${site.url}/vanish`));

  test('a click that waits for its element looks for it on the new page', async () => {
    await tool.post('/evaluate', { expression: LEAVE });
    const answer = await click('#late', { timeout_ms: 8_000 });
    expect(answer).toMatchObject({ status: 404, code: 'ELEMENT_NOT_FOUND' });
    expect((await tool.get('/info')).data.url).toBe(`${site.url}/next`);
  });

  test('a ref turns stale under the click', async () => {
    const { ref } = (await tool.get('/dom?selector=%23late')).data as { ref: string };
    await tool.post('/evaluate', { expression: LEAVE });
    const answer = await click(ref, { timeout_ms: 20_000 });
    expect(answer).toMatchObject({ status: 409, code: 'STALE_REF' });
    // The second until the browser has reported the new page.
    expect([
      `${ref} belonged to ${site.url}/vanish which is no longer loaded (now ${site.url}/next). Call browser_snapshot for fresh refs.`,
      `${ref} is no longer in the page. Call browser_snapshot for fresh refs.`,
    ]).toContain(answer.error);
  });

  test('a script fails when its page is closed', async () => {
    const answer = await tool.post('/evaluate', {
      expression: `${LEAVE}; new Promise(() => undefined)`,
    });
    expect(answer).toMatchObject({ status: 422, code: 'EVALUATION_FAILED' });
    expect(answer.error).toBe(
      `The page navigated to ${site.url}/next before the script finished. Call again on the new page, or do not await what navigates.`,
    );
  });

  test('waiting for an element continues there', async () => {
    await tool.post('/evaluate', { expression: LEAVE });
    expect((await tool.post('/wait-for-selector', { selector: 'h1' })).data).toMatchObject({
      found: true,
    });
  });
});
