import { waitUntil } from '@model-gateway/testkit';
import type { Captures } from '../../../apps/browser-tool/src/capture/captures.ts';
import type { BrowserEngine } from '../../../apps/browser-tool/src/engine.ts';
import { createFfiScene, newCall, type FfiScene } from './ffi-scene.ts';

/** For steps that must succeed, however busy the machine is. */
const PATIENCE_MS = 120_000;
/** For steps that wait for what never comes. */
const REFUSAL_MS = 5_000;
const IN_VAIN = { timeoutMs: REFUSAL_MS };

let scene: FfiScene;
let address: string;
let engine: BrowserEngine;
let captures: Captures;

beforeAll(async () => {
  scene = await createFfiScene();
  ({ address } = scene);
});

afterAll(() => scene.close());

const go = (path: string) =>
  engine.navigate(
    { url: `${address}${path}`, waitUntil: 'load', timeoutMs: PATIENCE_MS },
    newCall(),
  );
const click = (
  target: string,
  call = newCall(),
  modifiers: 'Shift'[] = [],
  timeoutMs = PATIENCE_MS,
) =>
  engine.click(
    {
      target,
      button: 'left',
      doubleClick: false,
      modifiers,
      position: undefined,
      force: false,
      timeoutMs,
    },
    call,
  );
const clickInVain = (target: string) => click(target, newCall(), [], REFUSAL_MS);
const type = (target: string, text: string, changes = {}) =>
  engine.type(
    { target, text, clear: true, submit: false, slowly: false, timeoutMs: PATIENCE_MS, ...changes },
    newCall(),
  );
const read = async () =>
  (
    await engine.evaluate(
      {
        function: 'out.textContent',
        args: [],
        target: undefined,
        awaitPromise: true,
        timeoutMs: PATIENCE_MS,
      },
      newCall(),
    )
  ).result;

describe('with an engine that offers nothing but scripts', () => {
  beforeAll(async () => {
    ({ engine, captures } = await scene.start());
  });
  beforeEach(() => go('/'));
  afterAll(() => engine.close());

  test('it gets the URL and the options', () => {
    expect(JSON.parse(scene.behind.options[0] ?? '')).toEqual({
      url: 'about:blank',
      proxy: scene.behind.url,
      viewport: { width: 800, height: 600 },
      user_data_dir: expect.stringContaining('browser-tool-profile-'),
    });
    expect(engine.status()).toMatchObject({
      version: 'servo',
      sandbox: false,
      viewport: [800, 600],
    });
  });

  test('navigating returns the status, the title and the state of loading', async () => {
    expect(await go('/next')).toEqual({
      url: `${address}/next`,
      title: 'Next',
      status: 200,
      statusText: '',
      loadState: 'complete',
      redirected: false,
    });
    expect(await go('/gone')).toMatchObject({ status: 404 });
  });

  test('an address that cannot be reached is an error, and the next one works', async () => {
    await expect(
      engine.navigate(
        { url: 'http://127.0.0.1:9/', waitUntil: 'load', timeoutMs: PATIENCE_MS },
        newCall(),
      ),
    ).rejects.toMatchObject({
      code: 'NAVIGATION_FAILED',
      details: { net_error: expect.stringMatching(/^net::ERR_/) },
    });
    expect(await go('/next')).toMatchObject({ title: 'Next' });
  });

  test('a click is a click for the page, with its modifiers', async () => {
    expect(await click('#buy', newCall(), ['Shift'])).toMatchObject({
      navigated: false,
      target: { role: 'button', name: 'Buy', tag: 'button' },
    });
    expect(await read()).toBe('bought 0true');
    await click('#late');
    expect(await read()).toBe('late');
  });

  test('a click on a link waits for the page that it leads to', async () => {
    expect(await click('text=Next page')).toMatchObject({
      navigated: true,
      url: `${address}/next`,
      title: 'Next',
    });
  });

  test('a disabled element is reported as in other backends', async () => {
    await expect(clickInVain('#off')).rejects.toMatchObject({ code: 'ELEMENT_DISABLED' });
    await expect(clickInVain('#nowhere')).rejects.toMatchObject({ code: 'ELEMENT_NOT_FOUND' });
    await expect(clickInVain('##')).rejects.toMatchObject({ code: 'INVALID_SELECTOR' });
  });

  test('typing replaces or adds, chooses options, and submits', async () => {
    expect(await type('#name', 'Zoë')).toMatchObject({ value: 'Zoë', navigated: false });
    expect(await read()).toBe('Zoë');
    expect(await type('#note', ' and new', { clear: false })).toMatchObject({
      value: 'old and new',
    });
    expect(await type('#name', 'abc', { slowly: true })).toMatchObject({ value: 'abc' });
    expect(await type('#name', 'a\tb', { slowly: true })).toMatchObject({ value: 'a\tb' });
    expect(await type('#size', 'Large')).toMatchObject({ value: 'Large' });
    await expect(type('#size', 'Huge', IN_VAIN)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await expect(type('#buy', 'x', IN_VAIN)).rejects.toMatchObject({
      code: 'ELEMENT_NOT_EDITABLE',
    });
    expect(await type('#name', 'q', { submit: true })).toMatchObject({
      navigated: true,
      url: `${address}/next?name=q`,
    });
  });

  test('keys go to what has the focus', async () => {
    await type('#name', 'ab');
    await engine.press(
      { key: 'Backspace', target: undefined, count: 1, timeoutMs: PATIENCE_MS },
      newCall(),
    );
    await engine.press({ key: 'z', target: '#name', count: 2, timeoutMs: PATIENCE_MS }, newCall());
    expect(await read()).toBe('azz');
    await expect(
      engine.press(
        { key: 'NoSuchKey', target: undefined, count: 1, timeoutMs: PATIENCE_MS },
        newCall(),
      ),
    ).rejects.toMatchObject({ code: 'INVALID_KEY' });
  });

  test('dialogs are answered at once and reported', async () => {
    const plain = newCall();
    await click('#ask', plain);
    expect(await read()).toBe('falsenull');
    expect(plain.notes.dialogs).toEqual([
      { type: 'confirm', message: 'Sure?', action: 'dismissed' },
      { type: 'prompt', message: 'Name?', action: 'dismissed' },
    ]);
    await click('#ask', newCall({ dialog: 'accept', promptText: 'Ann' }));
    expect(await read()).toBe('trueAnn');
  });

  test('functions, expressions and statements are evaluated, with arguments and an element', async () => {
    const evaluate = (source: string, changes = {}) =>
      engine.evaluate(
        {
          function: source,
          args: [],
          target: undefined,
          awaitPromise: true,
          timeoutMs: PATIENCE_MS,
          ...changes,
        },
        newCall(),
      );
    expect(await evaluate('1 + 1')).toEqual({ result: 2, type: 'number', truncated: false });
    expect(await evaluate('undefined')).toMatchObject({ result: null, type: 'undefined' });
    expect(await evaluate('[1, document.body]')).toMatchObject({
      result: [1, '<body>'],
      type: 'array',
    });
    expect(await evaluate('const a = 2; return a')).toMatchObject({ result: 2 });
    expect(await evaluate('const a = 2; a * 3')).toMatchObject({ result: 6 });
    expect(await evaluate('() => 7;')).toMatchObject({ result: 7 });
    expect(await evaluate('document.querySelector')).toMatchObject({ type: 'function' });
    expect(await evaluate('window.onresize = () => 7')).toMatchObject({ type: 'function' });
    expect(await evaluate('await Promise.resolve(8)')).toMatchObject({ result: 8 });
    expect(await evaluate('element.id', { target: '#buy' })).toMatchObject({ result: 'buy' });
    expect(await evaluate('async (a, b) => a + b', { args: [1, 2] })).toMatchObject({ result: 3 });
    expect(
      await evaluate('(element, a) => element.id + a', { args: ['!'], target: '#buy' }),
    ).toMatchObject({
      result: 'buy!',
    });
    await expect(evaluate('() => { throw new TypeError("no") }')).rejects.toMatchObject({
      code: 'EVALUATION_FAILED',
      details: { name: 'TypeError', message: 'no' },
    });
    await expect(evaluate('(((')).rejects.toMatchObject({ code: 'EVALUATION_FAILED' });
  });

  test('the outline and the DOM give refs that work, and turn stale with their page', async () => {
    const { nodes } = await engine.snapshot(
      { target: undefined, depth: undefined, interactive: true, urls: false, boxes: false },
      newCall(),
    );
    const buy = nodes.find(({ name }) => name === 'Buy');
    expect(await click(buy?.ref ?? '')).toMatchObject({ target: { ref: buy?.ref } });
    const found = await engine.dom(
      {
        selector: '#buy',
        attribute: 'id',
        all: false,
        computed: false,
        html: 'none',
        limit: 1,
        maxChars: 100,
      },
      newCall(),
    );
    expect(found).toMatchObject({
      count: 1,
      matches: [{ ref: buy?.ref, tag: 'button', value: 'buy' }],
    });
    await go('/next');
    await expect(clickInVain(buy?.ref ?? '')).rejects.toMatchObject({
      code: 'STALE_REF',
      message: `${buy?.ref} belonged to ${address}/ which is no longer loaded (now ${address}/next).`,
    });
    await expect(clickInVain('e999999')).rejects.toMatchObject({ code: 'ELEMENT_NOT_FOUND' });
  });

  test('waiting ends when the element is there, or with the time', async () => {
    const wait = (target: string, timeoutMs: number) =>
      engine.waitFor({ target, state: 'visible', timeoutMs }, newCall());
    expect(await wait('#buy', PATIENCE_MS)).toEqual({ found: true, count: 1 });
    expect(await wait('#nowhere', 150)).toEqual({ found: false, count: 0 });
  });

  test('the history is walked, to its ends', async () => {
    await go('/next');
    const step = (direction: 'back' | 'forward' | 'reload') =>
      engine.traverse(direction, { waitUntil: 'load', timeoutMs: PATIENCE_MS }, newCall());
    expect(await step('back')).toMatchObject({ title: 'Home' });
    expect(await step('forward')).toMatchObject({ title: 'Next' });
    expect(await step('reload')).toMatchObject({ title: 'Next' });
    await expect(step('forward')).rejects.toMatchObject({ code: 'NO_HISTORY' });
  });

  test('a picture is a PNG with its size; other formats and resizing are not offered', async () => {
    const shoot = (changes = {}) =>
      engine.screenshot(
        {
          target: undefined,
          fullPage: false,
          format: 'png',
          quality: undefined,
          maxDimension: 0,
          omitBackground: false,
          timeoutMs: PATIENCE_MS,
          ...changes,
        },
        newCall(),
      );
    expect(await shoot()).toMatchObject({
      mimeType: 'image/png',
      width: 800,
      height: 600,
      scale: 1,
    });
    expect((await shoot({ target: '#buy' })).width).toBeLessThan(200);
    await expect(shoot({ format: 'jpeg' })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED_BY_ENGINE',
    });
    await expect(
      engine.resize(
        { width: 500, height: 400, deviceScaleFactor: undefined, mobile: false },
        newCall(),
      ),
    ).rejects.toMatchObject({
      code: 'NOT_SUPPORTED_BY_ENGINE',
      message: 'the servo engine does not support resizing.',
    });
  });

  test('events of the engine are captured', async () => {
    const emit = (event: object) =>
      engine
        .navigate(
          {
            url: `http://event/#${JSON.stringify(event)}`,
            waitUntil: 'commit',
            timeoutMs: PATIENCE_MS,
          },
          newCall(),
        )
        .catch(() => undefined);
    await emit({ type: 'console', level: 'error', text: 'ouch' });
    await emit({
      type: 'network',
      id: '1',
      event: 'started',
      url: 'http://a.test/x',
      method: 'POST',
    });
    await emit({ type: 'network', id: '1', event: 'finished', status: 201 });
    await emit({ type: 'websocket', id: 's', event: 'created', url: 'ws://a.test/' });
    await emit({ type: 'nonsense' });
    await waitUntil(() => captures.webSockets.connections().length > 0);
    expect(captures.console.query({ limit: 5, all: true }).entries.at(-1)).toMatchObject({
      level: 'error',
      text: 'ouch',
      count: 2,
    });
    expect(captures.network.query({ limit: 5 }).resources).toContainEqual(
      expect.objectContaining({ url: 'http://a.test/x', method: 'POST', status: 201 }),
    );
  });
});

test('what an engine offers itself is used instead of scripts', async () => {
  const clicks: unknown[] = [];
  scene.behind.offered.set('click', async (params, page) => {
    clicks.push(params);
    await page.mouse.click(Number(params['x']), Number(params['y']));
  });
  scene.behind.offered.set('resize', async (params, page) => {
    await page.setViewportSize({
      width: Number(params['width']),
      height: Number(params['height']),
    });
  });
  ({ engine } = await scene.start());
  await go('/');
  await click('#buy');
  expect(await read()).toBe('bought 0false');
  expect(clicks).toEqual([expect.objectContaining({ button: 'left', double: false })]);
  expect(
    await engine.resize(
      { width: 500, height: 400, deviceScaleFactor: undefined, mobile: false },
      newCall(),
    ),
  ).toEqual([500, 400]);
  scene.behind.offered.clear();
  await engine.close();
});
