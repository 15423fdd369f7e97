// `node apps/console/scripts/inp.mjs [rows]`: how long a page takes to paint after an interaction, with many rows behind its table, at a quarter of the speed of this CPU. The goal is at most 200 ms.
import { openBrowser, startService } from './browser.mjs';

const ROWS = Number(process.argv[2] ?? 10_000);
const SLOWDOWN = 4;
const REPEATS = 5;
const INP_MAX_MS = 200;

/** What is done on each page; what it is called, where it is, and the interaction. */
const INTERACTIONS = [
  { path: '/models', name: 'sort', act: (page) => page.getByTitle('Sort by Model').click() },
  {
    path: '/models',
    name: 'next page',
    act: (page) => page.getByRole('button', { name: 'Next' }).click(),
  },
  {
    path: '/requests',
    name: 'move',
    act: (page) => page.keyboard.press('j'),
  },
  { path: '/playground', name: 'type', act: (page) => page.getByLabel('Message').press('a') },
  { path: '/settings', name: 'type', act: (page) => page.getByRole('searchbox').press('e') },
];

const service = await startService();
const browser = await openBrowser();
let slow = 0;
try {
  const page = await (await browser.newContext()).newPage();
  await page.route('**/v1/models', (route) => manyModels(route));
  await page.addInitScript(() => {
    globalThis.paintsMs = [];
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId > 0) globalThis.paintsMs.push(duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  });
  await page.goto(`${service.url}/`);
  await page.getByLabel('Email').fill('admin@example.com');
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByRole('button', { name: 'Use the demo model' }).waitFor();
  const devtools = await page.context().newCDPSession(page);
  for (const { path, name, act } of INTERACTIONS) {
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await page.goto(`${service.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('tbody tr, textarea, .empty').first().waitFor();
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      await act(page);
      await painted(page);
    }
    const times = await page.evaluate(() => globalThis.paintsMs);
    const longest = Math.max(0, ...times);
    if (longest > INP_MAX_MS) slow += 1;
    process.stdout.write(`${path}, ${name}: ${longest} ms at most\n`);
  }
} finally {
  await browser.close();
  await service.stop();
}
process.exitCode = slow === 0 ? 0 : 1;

/** Entries of events are made after the frame that shows their result. */
function painted(page) {
  return page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
      }),
  );
}

async function manyModels(route) {
  const response = await route.fetch();
  const { data, ...others } = await response.json();
  const [model] = data;
  const models = Array.from({ length: ROWS }, (_, index) => ({ ...model, id: `model-${index}` }));
  await route.fulfill({ response, json: { ...others, data: models } });
}
