import { expectRecorded, waitUntil } from '@model-gateway/testkit';
import { sendRaw } from '../interfaces/raw-request.ts';
import type { Site } from '../site.ts';
import type { ToolUnderTest } from '../tool.ts';
import { FULL, openScene, recorded, type RecordScene } from './scene.ts';

let scene: RecordScene;
let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  scene = await openScene();
  ({ site, tool } = scene);
});
afterAll(() => scene.close());

/** Asks the HTTP face: `GET /path`, or `POST /path` with a body. */
async function ask(method: string, path: string, body?: unknown, headers = {}): Promise<unknown> {
  const response = await fetch(`${tool.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const type = response.headers.get('content-type') ?? '';
  const answer = type.startsWith('application/json')
    ? await response.json()
    : await response.blob();
  const allow = response.headers.get('allow');
  const shown =
    body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`;
  scene.note(
    `${method} ${path}${shown}${Object.keys(headers).length > 0 ? JSON.stringify(headers) : ''}`,
    {
      status: response.status,
      type,
      ...(allow === null ? {} : { allow }),
      answer: answer instanceof Blob ? '<bytes>' : answer,
    },
  );
  return answer instanceof Blob ? undefined : answer;
}
const get = (path: string): Promise<unknown> => ask('GET', path);
const post = (path: string, body: unknown = {}): Promise<unknown> => ask('POST', path, body);
const open = (path: string): Promise<unknown> => post('/navigate', { url: `${site.url}${path}` });

test('the HTTP face', async () => {
  await get('/health');
  await open('/');
  await get('/info');
  await get('/a11y?format=text');
  await get('/a11y');
  await get('/a11y?format=text&interactive=1&urls=1');
  await get('/a11y?format=text&depth=2&max_chars=100');
  await get('/a11y?selector=table&format=text');
  await get('/a11y?cursor=n99999&format=text');
  await get('/dom?selector=%23name&computed=color,display');
  await get('/dom?selector=.twin&all=true&html=none');
  await get('/dom?selector=%23next&attribute=href');
  await get('/dom?selector=.missing');
  await get('/dom?selector=%5B');
  await get('/dom?max_chars=40');
  await post('/click', { target: '#order' });
  await post('/click', { ref: await scene.refOf('#order') });
  await post('/click', { selector: '.twin' });
  await post('/click', { target: 'xpath=(//button[@class="twin"])[1]', double: true });
  await post('/click', { target: 'text=Place order', button: 'right', modifiers: ['Shift'] });
  await post('/click', { target: '#order', position: { x: 3, y: 3 }, force: true });
  await post('/click', { target: '#covered' });
  await post('/click', { target: '#off', timeout_ms: 200 });
  await post('/click', { target: '#hidden', timeout_ms: 200 });
  await post('/click', { target: '#missing', timeout_ms: 200 });
  await post('/click', { target: 'e999999' });
  await post('/click', { target: '[[' });
  await post('/click', { target: 'text=' });
  await post('/click', { target: 'xpath=///' });
  await post('/click', { target: '#confirm' });
  await post('/click', { target: '#confirm', dialog: 'accept' });
  await post('/click', { target: '#prompt', dialog: 'accept', prompt_text: 'Bob' });
  await post('/click', { target: '#alert' });
  await post('/click', { target: '#file' });
  await post('/type', { target: '#name', text: 'Ann' });
  await post('/type', { target: '#name', text: ' Lee', clear_first: false, slowly: true });
  await post('/type', { target: '#secret', text: 'hush' });
  await post('/type', { target: '#date', text: '2026-12-31' });
  await post('/type', { target: '#date', text: 'soon' });
  await post('/type', { target: '#size', text: 'Large' });
  await post('/type', { target: '#size', text: 'Tiny' });
  await post('/type', { target: '#size', text: 'Huge' });
  await post('/type', { target: '#rich', text: 'new' });
  await post('/type', { target: '#area', text: 'a\nb' });
  await post('/type', { target: '#box', text: 'x', timeout_ms: 200 });
  await post('/type', { target: '#fixed', text: 'x', timeout_ms: 200 });
  await post('/press', { key: 'Tab' });
  await post('/press', { key: 'Control+A', target: '#name', count: 2 });
  await post('/press', { key: 'Nonsense' });
  await post('/press', { key: 'A', target: 'h1', timeout_ms: 200 });
  await post('/press', {});
  await post('/wait-for-selector', { selector: 'h1' });
  await post('/wait-for-selector', { selector: '.nope', timeout_ms: 50 });
  await post('/wait-for-selector', { selector: '.nope', timeout_ms: 50, required: true });
  await post('/wait-for-selector', { selector: '.nope', state: 'detached' });
  await get('/viewport');
  await post('/resize', { width: 640, height: 480 });
  await post('/resize', { width: 0, height: 480 });
  await post('/screenshot', {});
  await post('/screenshot', { format: 'jpeg', quality: 40, full_page: true });
  await post('/screenshot', { target: '#name', max_dimension: 0 });
  await post('/screenshot', { target: '#hidden', timeout_ms: 200 });
  await ask('POST', '/screenshot', {}, { accept: 'image/webp' });
  await post('/resize', { width: 1280, height: 720 });
  const stale = await scene.refOf('#order');
  await post('/click', { target: '#next' });
  await post('/click', { target: stale });
  await post('/back');
  await post('/forward');
  await post('/reload');
  await post('/forward');
  await post('/batch', {
    operations: [
      { type: 'scroll', to: 'bottom' },
      { type: 'scroll', y: -100, name: 'up' },
      { type: 'scroll', target: 'button' },
      { type: 'wait', ms: 1 },
      { type: 'wait_for_selector', selector: 'h1' },
      { type: 'evaluate', expression: 'document.title' },
      { type: 'screenshot', target: 'h1' },
      { type: 'a11y', format: 'text' },
      { type: 'dance' },
      { type: 'back' },
    ],
  });
  await post('/batch', { operations: [{ type: 'click' }, {}], stop_on_error: false });
  await post('/batch', { operations: 'x' });
  await open('/hop');
  await open('/frames');
  await get('/a11y?format=text&boxes=1');
  await post('/click', { target: 'text=Inside' });
  await post('/click', { target: '#deep' });
  await post('/evaluate', { expression: 'element.ownerDocument.title', target: 'text=Pressed' });
  await open('/');
  await post('/click', { target: '#tab' });
  await expectRecorded(recorded('http'), scene.take(), FULL);
}, 240_000);

test('navigations and scripts over HTTP', async () => {
  await open('/');
  await post('/navigate', { url: `${site.url}/next`, wait_for: 'h1' });
  await post('/navigate', { url: `${site.url}/next`, wait_for: '.nope', timeout_ms: 300 });
  await post('/navigate', { url: `${site.url}/never`, timeout_ms: 300 });
  await open('/empty');
  await open('/broken');
  await open('/file');
  await open('/missing');
  await open('/next#part');
  for (const url of ['file:///etc/passwd', 'javascript:1', 'chrome://version', 'x y', '', '/path'])
    await post('/navigate', { url });
  await post('/navigate', { url: 'http://127.0.0.1:1/' });
  await post('/navigate', { url: 'data:text/html,<title>Data</title>' });
  await post('/navigate', { url: 'about:blank' });
  await post('/navigate', {});
  await post('/navigate', { url: 5 });
  await post('/navigate', { url: 'about:blank', wait_until: 'soon' });
  await post('/navigate', { url: 'about:blank', surprise: 1 });
  await open('/');
  for (const expression of SCRIPTS) await post('/evaluate', { expression });
  await post('/evaluate', { function: '(a, b) => a + b', args: [1, 2] });
  await post('/evaluate', {
    function: '(element, more) => element.id + more',
    target: '#name',
    args: ['!'],
  });
  await post('/evaluate', { expression: 'element.value', target: '#name' });
  await post('/evaluate', { expression: '1', args: [1] });
  await post('/evaluate', { expression: 'new Promise(() => {})', timeout_ms: 100 });
  await post('/evaluate', { expression: 'for (;;);', timeout_ms: 100 });
  await post('/evaluate', { expression: 'Promise.resolve(1)', await_promise: false });
  await post('/evaluate', { expression: 'location.href = "/next"; new Promise(() => {})' });
  await post('/evaluate', { expression: 'confirm("Sure?")', dialog: 'accept' });
  await expectRecorded(recorded('scripts'), scene.take(), FULL);
}, 240_000);

const SCRIPTS = [
  '1 + 1',
  '"text"',
  'undefined',
  'null',
  '-0',
  'NaN',
  '10n',
  'Symbol("s")',
  '({ a: [1, { b: 2 }], c: undefined })',
  '{ a: 1 }',
  'document.body.children.length',
  'document.querySelector("#name")',
  'new Map([["a", 1]])',
  'const loop = {}; loop.loop = loop; loop',
  '() => 5',
  'async () => 6',
  'function () { return 7 }',
  'function named(x) { return typeof x }',
  'async function* many() {}',
  '(() => 8)()',
  '(() => 9)',
  'x => x',
  'async x => x',
  '() => 10;',
  '() => ({ a: 1 }) // comment',
  '/* comment */ () => 11',
  'class A {}',
  'return 12',
  'const a = await Promise.resolve(13); return a',
  'await Promise.resolve(14)',
  'let twice = 1',
  'let twice = 2',
  'twice',
  'function declared() { return 1 }\ndeclared() + 14',
  '() => 1, 2',
  '() => { throw new TypeError("no") }',
  'throw "plain"',
  'missing.field',
  '1 +',
  '() => {',
  'Promise.reject(new Error("later"))',
  '(async () => { return [1] })()',
  '"x".repeat(2 * 1024 * 1024)',
  '',
];

test('captures, guards and unknown routes over HTTP', async () => {
  await open('/noise');
  await waitUntil(async () => (await tool.get('/errors')).data.errors.length === 1);
  await get('/console');
  await get('/console?level=warning&limit=1');
  await get('/console?source=exception');
  await get('/console?level=loud');
  await get('/errors');
  await tool.delete('/console');
  await get('/console?all=true');
  await open('/next');
  await tool.delete('/network');
  await tool.post('/evaluate', {
    expression:
      'fetch("/json").then((r) => r.text()).then(() => fetch("/json", { method: "POST", body: "sent" })).then((r) => r.text()).then(() => fetch("/missing")).then((r) => r.text())',
  });
  await waitUntil(async () => {
    const { resources } = (await tool.get('/network')).data as {
      readonly resources: readonly { readonly duration: unknown }[];
    };
    return resources.every(({ duration }) => duration !== null);
  });
  await get('/network');
  await get('/network?status=4xx');
  await get('/network?method=POST&url=json&limit=1');
  await get('/network?status=abc');
  const { id } = (await tool.get('/network?method=POST')).data.resources[0] as {
    readonly id: string;
  };
  scene.note('GET /network/:id', (await tool.get(`/network/${id}?body=1`)).data.body);
  await get('/network/nope');
  await get('/network/%E0');
  await ask('DELETE', '/network');
  await tool.post('/evaluate', {
    expression: `new Promise((resolve) => { const s = window.s = new WebSocket('ws://127.0.0.1:${scene.socketPort}/'); s.onopen = () => s.send('hi'); s.onmessage = () => resolve() })`,
  });
  await get('/websocket');
  const [socket] = (await tool.get('/websocket')).data.connections as { readonly id: string }[];
  scene.note('GET /websocket/:id', (await tool.get(`/websocket/${socket?.id ?? ''}`)).data);
  await get('/websocket/nope');
  await ask('DELETE', '/websocket');
  await ask('GET', '/nowhere');
  await ask('PUT', '/console');
  await ask('GET', '/click');
  await ask('POST', '/click', '{');
  await ask('POST', '/click', '[]');
  await ask('POST', '/click', 'null');
  await ask('POST', '/click', { target: 'a'.repeat(1_100_000) }).catch(() => undefined);
  scene.forgetLast();
  await ask('POST', '/click', { target: 1, button: 'up', modifiers: 'Shift' });
  await ask('GET', '/console?limit=many');
  await ask('GET', '/health', undefined, { origin: 'https://evil.example' });
  await ask('GET', '/health', undefined, { 'sec-fetch-site': 'cross-site' });
  for (const headers of [{ host: 'evil.example' }, { host: 'localhost' }]) {
    const { status, body } = await sendRaw(tool.port, { method: 'GET', path: '/health', headers });
    scene.note(`GET /health ${JSON.stringify(headers)}`, { status, body });
  }
  await expectRecorded(recorded('captures'), scene.take(), FULL);
}, 240_000);
