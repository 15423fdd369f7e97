import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  preparedDataDir,
  rpcCall,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startRealtimeApi, type RunningRealtimeApi } from '@model-gateway/testkit/upstreams';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';
import { testBrowser } from '../test-browser.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

// Talking to a model in the playground, with the microphone that Chromium imitates: it beeps once a second.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const FAKE_MICROPHONE = '--use-fake-device-for-media-stream --use-fake-ui-for-media-stream';

let folder: TemporaryFolder;
let service: TestProcess;
let upstream: RunningRealtimeApi;
let tool: ToolUnderTest;
let page: ConsolePage;
let token = '';

beforeAll(async () => {
  folder = await preparedDataDir();
  upstream = await startRealtimeApi({ models: ['demo-realtime'] });
  service = await startProcess({
    app: 'standalone',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', SERVICE_DATA_DIR: folder.path },
  });
  const browser = join(folder.path, 'chromium-with-microphone');
  const chromium = testBrowser()['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  await writeFile(browser, `#!/bin/sh\nexec ${chromium} ${FAKE_MICROPHONE} "$@"\n`);
  await chmod(browser, 0o755);
  tool = await startTool({ env: { CHROMIUM_PATH: browser } });
  page = createConsolePage(tool, service.url);
  token = await registerAdmin(service.url, ADMIN);
  await page.signIn(ADMIN);
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await upstream.close();
  await folder.remove();
});

const typesSent = (): readonly unknown[] => upstream.events.map(({ type }) => type);

test('the playground offers to talk where a model can', async () => {
  await page.open('/console/playground');
  await page.see('Embeddings');
  expect(await page.evaluate('document.body.innerText')).not.toContain('Realtime');
  const url = upstream.url.replace('ws:', 'http:');
  const added = await rpcCall(
    service.url,
    'backends.add',
    { type: 'external', name: 'speech', url, models: ['demo-realtime'] },
    token,
  );
  expect(added.error).toBeUndefined();
  await page.open('/console/playground');
  await page.see('Realtime');
});

test('a question is spoken, and the answer is shown and counted', async () => {
  await page.open('/console/playground/realtime');
  await page.press('Start');
  await page.see('The session is open');
  await page.press('Talk');
  await page.see('The model hears you');
  await waitUntil(() => upstream.events.some((event) => isLoud(event['audio'])), {
    what: 'a beep of the microphone',
  });
  await page.press('Done, answer me');
  await page.see('This is the built-in realtime model. I heard');
  await page.see('First sound');
  await page.see('Tokens in / out');
  const types = typesSent();
  expect(types[0]).toBe('session.update');
  expect(types.filter((type) => type === 'input_audio_buffer.append').length).toBeGreaterThan(0);
  expect(types.slice(-2)).toEqual(['input_audio_buffer.commit', 'response.create']);
});

test('a session that is closed ends at the upstream as well', async () => {
  const before = typesSent().length;
  await page.press('Talk');
  await waitUntil(() => typesSent().length > before, { what: 'audio of the second question' });
  await page.press('End the session');
  await page.see('No session');
  await waitUntil(() => upstream.openConnections === 0, { what: 'the end of the session' });
});

test('the page breaks no policy of the service', async () => {
  const { data } = await tool.get('/console?level=error&all=true');
  const { entries } = data as { readonly entries: readonly { readonly text: string }[] };
  // A page without a session gets this status.
  expect(entries.map(({ text }) => text).filter((text) => !text.includes('401'))).toEqual([]);
});

/** Whether audio of 16-bit samples is more than noise. */
function isLoud(audio: unknown): boolean {
  if (typeof audio !== 'string') return false;
  const bytes = Buffer.from(audio, 'base64');
  for (let place = 0; place + 1 < bytes.length; place += 2)
    if (Math.abs(bytes.readInt16LE(place)) > 1000) return true;
  return false;
}
