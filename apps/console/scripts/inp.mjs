// `node apps/console/scripts/inp.mjs [rows]`: how long a page takes to paint after an interaction, with many rows behind its table, at a quarter of the speed of this CPU. The goal is at most 200 ms.
import { openBrowser, startService } from './browser.mjs';

const ROWS = Number(process.argv[2] ?? 10_000);
const SLOWDOWN = 4;
const REPEATS = 5;
const INP_MAX_MS = 200;

const button = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
const sortBy = (column) => (page) => page.getByTitle(`Sort by ${column}`).click();
const press = (key) => (page) => page.keyboard.press(key);

/** What is done on each page, again and again; `prepare` is not measured. */
const INTERACTIONS = [
  { path: '/models', name: 'sort', act: sortBy('Model') },
  { path: '/models', name: 'next page', act: button('Next') },
  {
    path: '/models',
    name: 'type a target',
    prepare: async (page) => {
      await button('Add an alias')(page);
      await page.getByRole('combobox', { name: 'Model' }).focus();
    },
    act: press('1'),
  },
  { path: '/keys', name: 'sort', act: sortBy('Name') },
  { path: '/keys', name: 'next page', act: button('Next') },
  {
    path: '/keys',
    name: 'open and close a dialog',
    act: async (page) => {
      await button('Create a key')(page);
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
  },
  { path: '/prices', name: 'sort', act: sortBy('Models') },
  { path: '/prices', name: 'next page', act: button('Next') },
  { path: '/requests', name: 'move', act: press('j') },
  { path: '/playground', name: 'type', act: (page) => page.getByLabel('Message').press('a') },
  {
    path: '/playground',
    name: 'search a model',
    prepare: (page) => page.getByRole('combobox', { name: 'Model', exact: true }).click(),
    act: press('1'),
  },
  { path: '/settings', name: 'type', act: (page) => page.getByRole('searchbox').press('e') },
  {
    path: '/overview',
    name: 'search',
    prepare: (page) => page.keyboard.press('Control+K'),
    act: press('1'),
  },
  {
    path: '/overview',
    name: 'pause and go on',
    act: (page) => page.locator('[aria-pressed]').click(),
  },
];

/** Rows of a method, many times. */
const MANY = {
  'keys.list': (keys) =>
    many(keys, (key, place) => ({ ...key, id: idOf(place), name: `k${place}` })),
  'billing.pricing.get': ({ pricing }) => ({
    pricing: many(pricing, (price, place) => ({ ...price, pattern: `model-${place}` })),
  }),
};

const service = await startService();
const browser = await openBrowser();
let slow = 0;
try {
  const page = await (await browser.newContext()).newPage();
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
  await page.getByRole('button', { name: 'Use the demo model' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('table').waitFor();
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const { data, ...others } = await response.json();
    const models = many(data, (model, place) => ({ ...model, id: `model-${place}` }));
    await route.fulfill({ response, json: { ...others, data: models } });
  });
  await page.route('**/api/rpc', async (route) => {
    const multiply = MANY[route.request().postDataJSON()?.method];
    if (multiply === undefined) return route.continue();
    const response = await route.fetch();
    const { result, ...others } = await response.json();
    return route.fulfill({ response, json: { ...others, result: multiply(result) } });
  });
  const devtools = await page.context().newCDPSession(page);
  for (const { path, name, prepare, act } of INTERACTIONS) {
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await page.goto(`${service.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('tbody tr, textarea, .empty, canvas').first().waitFor();
    await prepare?.(page);
    await painted(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await page.evaluate(() => {
      globalThis.paintsMs = [];
    });
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

function many([first], change) {
  return Array.from({ length: ROWS }, (_, place) => change(first, place));
}

function idOf(place) {
  return `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
}
