import { existsSync } from 'node:fs';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

// What the headless shell does not have: processes of their own for frames of other sites, and tabs that the user opens.
const CHROMIUM = '/usr/bin/chromium';
const env = existsSync(CHROMIUM) ? { CHROMIUM_PATH: CHROMIUM } : {};

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<button id="press">Press</button><iframe title="Advert"></iframe>'),
    '/field': page('Field', '<input aria-label="Inner">'),
    '/link': page('Link', '<a href="/next">Next</a>'),
    '/next': page('Next', 'next'),
    '/private': ({ headers }, response) => {
      const isKnown = headers.authorization !== undefined;
      response.writeHead(isKnown ? 200 : 401, {
        'content-type': 'text/html',
        'www-authenticate': 'Basic realm="Private"',
      });
      response.end(isKnown ? '<title>Private</title>' : '<title>Refused</title>');
    },
    '/endless': page(
      'Endless',
      `<button id="inner">Inner</button><script>
         onmessage = () => {
           const notice = new XMLHttpRequest();
           notice.open('GET', '/hangs', false);
           notice.send();
           for (;;) {}
         };
       </script>`,
    ),
  });
  tool = await startTool({ env });
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

test('a frame of another site that hangs does not stop the rest of the page', async () => {
  await tool.open(`${site.url}/`);
  const load = `(url) => new Promise((resolve) => {
      const frame = document.querySelector('iframe');
      frame.onload = () => resolve(1);
      frame.src = url;
    })`;
  await tool.post('/evaluate', { function: load, args: [`${site.otherUrl}/endless`] });
  const { ref } = (await tool.get('/dom?selector=%23inner')).data as { ref: string };
  const hang = `document.querySelector('iframe').contentWindow.postMessage('', '*'); 0`;
  await tool.post('/evaluate', { expression: hang });
  await waitUntil(() => site.requests.includes('/hangs'));

  const { data } = await tool.get('/a11y?format=text');
  expect(data.text).toMatch(
    /^- button "Press" \[ref=e\d+\]\n- iframe "Advert" \[not responding\] \[ref=e\d+\]$/,
  );
  expect((await tool.post('/click', { target: '#press' })).data).toMatchObject({ clicked: true });
  expect(await tool.post('/click', { target: '#none', timeout_ms: 200 })).toMatchObject({
    code: 'ELEMENT_NOT_FOUND',
  });
  const waited = await tool.post('/wait-for-selector', { selector: '#none', timeout_ms: 200 });
  expect(waited.data).toMatchObject({ found: false });
  expect((await tool.get('/dom?selector=%23press')).data).toMatchObject({ count: 1 });
  expect(await tool.post('/click', { target: ref })).toMatchObject({
    code: 'TIMEOUT',
    error: expect.stringMatching(/^The frame of \S.* does not respond\./),
  });
  expect((await tool.open(`${site.url}/`)).data).not.toHaveProperty('restarted');
});

test('a click arrives in a frame of another site on a phone that shows a wide page', async () => {
  await tool.post('/resize', { width: 390, height: 844, device_scale_factor: 3, mobile: true });
  await tool.open(`${site.url}/`);
  const load = `(url) => new Promise((resolve) => {
    const frame = document.querySelector('iframe');
    frame.onload = () => resolve(visualViewport.scale);
    frame.src = url;
  })`;
  const scale = await tool.post('/evaluate', { function: load, args: [`${site.otherUrl}/link`] });
  expect(scale.data.result).toBeLessThan(1);
  expect(await tool.post('/click', { target: 'text=Next', timeout_ms: 1_000 })).toMatchObject({
    ok: true,
  });
  await tool.post('/resize', { width: 1280, height: 720 });
});

test('a key for a frame of another site arrives there', async () => {
  await tool.open(`${site.url}/`);
  const load = `(url) => new Promise((resolve) => {
    const frame = document.querySelector('iframe');
    frame.onload = () => resolve(1);
    frame.src = url;
  })`;
  await tool.post('/evaluate', { function: load, args: [`${site.otherUrl}/field`] });
  const target = '[aria-label=Inner]';
  expect(await tool.post('/press', { key: 'q', target })).toMatchObject({ ok: true });
  const inner = { function: 'element.value', target };
  expect((await tool.post('/evaluate', inner)).data.result).toBe('q');
});

test.each([
  { modifiers: ['Control'] },
  { modifiers: ['Shift'] },
  { modifiers: ['Control', 'Shift'] },
  { button: 'middle' },
])('a click with %j opens a tab, which becomes the page and is reported', async (how) => {
  await tool.open(`${site.url}/link`);
  expect((await tool.post('/click', { target: 'text=Next', ...how })).data).toMatchObject({
    opened_tab: { url: `${site.url}/next` },
    url: `${site.url}/next`,
    title: 'Next',
  });
});

test('a page that requires a password says how to send it', async () => {
  const url = `${site.url}/private`;
  expect(await tool.post('/navigate', { url })).toMatchObject({
    code: 'NAVIGATION_FAILED',
    hint: 'Put them into the URL: http://user:password@host/.',
  });
  const withLogin = url.replace('//', '//ann:secret@');
  expect((await tool.post('/navigate', { url: withLogin })).data).toMatchObject({
    url,
    title: 'Private',
  });
});
