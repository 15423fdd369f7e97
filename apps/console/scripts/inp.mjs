// `node apps/console/scripts/inp.mjs [rows] [paths]`: how long every page, or those whose paths begin with one of the given (`/keys,/usage`), takes to paint after an interaction, with many rows behind its table, at a quarter of the speed of this CPU. The goal is at most 200 ms.
import { openBrowser, startService } from './browser.mjs';
import { INTERACTIONS } from './interactions.mjs';
import { manyRows } from './many-rows.mjs';

const ROWS = Number(process.argv[2] ?? 10_000);
const wanted = process.argv[3]?.split(',') ?? ['/'];
const SLOWDOWN = 4;
const REPEATS = 5;
const INP_MAX_MS = 200;
const ACCOUNT = { email: 'admin@example.com', password: 'a long password' };

const service = await startService();
const browser = await openBrowser();
let slow = 0;
try {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.paintsMs = [];
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId > 0) globalThis.paintsMs.push(duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  });
  await addFirstRows();
  const settled = await manyRows(page, ROWS);
  const devtools = await context.newCDPSession(page);
  process.stdout.write(`a button on an empty page: ${await control()} ms at most\n`);
  for (const interaction of INTERACTIONS) {
    if (!wanted.some((start) => interaction.path.startsWith(start))) continue;
    const { path, name, prepare, act } = interaction;
    const longest = await measure(
      async () => {
        await page.goto(`${service.url}/console${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForFunction(() => document.querySelector('.skeleton') === null);
        await page.locator('tbody tr, textarea, .empty, canvas, .card').first().waitFor();
        await prepare?.(page);
        await settled();
      },
      () => act(page),
    );
    if (longest > INP_MAX_MS) slow += 1;
    process.stdout.write(`${path}, ${name}: ${longest} ms at most\n`);
  }

  /** The longest time of several repeats. */
  async function measure(prepare, act) {
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await prepare();
    await painted();
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await page.evaluate(() => {
      globalThis.paintsMs = [];
    });
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      await act();
      await painted();
    }
    const times = await page.evaluate(() => globalThis.paintsMs);
    return Math.max(0, ...times);
  }

  /** What the machine takes for an interaction that costs nothing: other programs are running as well. */
  function control() {
    return measure(
      async () => {
        await page.goto(`${service.url}/livez`);
        await page.evaluate(() => {
          document.body.innerHTML = '<button>0</button>';
          document.querySelector('button').addEventListener('click', ({ target }) => {
            target.textContent += '.';
          });
        });
      },
      () => page.getByRole('button').click(),
    );
  }

  /** Entries of events are made after the frame that shows their result. */
  function painted() {
    return page.evaluate(
      () =>
        new Promise((done) => {
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
        }),
    );
  }

  /** The rows that are shown many times. */
  async function addFirstRows() {
    const session = await context.request.post(`${service.url}/api/session/register`, {
      headers: { origin: service.url },
      data: ACCOUNT,
    });
    const { access_token: token } = await session.json();
    const call = async (method, params) => {
      const response = await context.request.post(`${service.url}/api/rpc`, {
        headers: { authorization: `Bearer ${token}` },
        data: { jsonrpc: '2.0', id: 1, method, params },
      });
      const { result, error } = await response.json();
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    };
    const { key } = await call('keys.create', { name: 'First key' });
    await call('group.create', { name: 'Research' });
    await call('aliases.set', { alias: 'fast', target: 'demo-chat' });
    await call('routes.set', { model: 'best', targets: [{ model: 'demo-chat' }] });
    await call('conversations.create', { title: 'A first conversation' });
    await context.request.post(`${service.url}/v1/chat/completions`, {
      headers: { authorization: `Bearer ${key}` },
      data: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] },
    });
  }
} finally {
  await browser.close();
  await service.stop();
}
process.exitCode = slow === 0 ? 0 : 1;
