// `pnpm console:shots [folder] [names]`: screenshots of every page, or of those whose names begin with one of the given (`usage,keys`), at three widths, light and dark, and what is wrong with each.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser, problemsOf, startService } from './browser.mjs';
import { PAGES } from './pages.mjs';

const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'];
const HEIGHT = 900;
const REQUESTS = 20;

const folder = resolve(process.env.INIT_CWD ?? '.', process.argv[2] ?? 'console-shots');
const wanted = process.argv[3]?.split(',');
const isWanted = (name) => wanted === undefined || wanted.some((start) => name.startsWith(start));
mkdirSync(folder, { recursive: true });
const service = await startService();
const browser = await openBrowser();
let problems = 0;
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: HEIGHT } });
  const page = await context.newPage();
  const notes = [];
  page.on('console', (message) => {
    // A page without a session gets this status.
    const isSignedOut = message.text().includes('401 (Unauthorized)');
    if (message.type() === 'error' && !isSignedOut) notes.push(message.text());
  });
  page.on('pageerror', (error) => notes.push(String(error)));

  await page.goto(`${service.url}/`);
  await page.getByLabel('Email').waitFor();
  await shoot('welcome-1-account');
  await page.getByLabel('Email').fill('admin@example.com');
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByRole('button', { name: 'Use the demo model' }).waitFor();
  await shoot('welcome-2-models');
  await page.getByRole('button', { name: 'Use the demo model' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).waitFor();
  await shoot('welcome-3-key');
  const key = await page.locator('.secret code').first().innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('table').waitFor();
  await shoot('welcome-4-chat');

  await sendRequests(key);
  for (const { name, path, prepare } of PAGES.filter(({ name: one }) => isWanted(one))) {
    await open(path);
    await prepare?.(page);
    await shoot(name);
  }
  await open('/playground');
  await page.getByLabel('Message').fill('Hello!');
  await page.keyboard.press('Enter');
  await page.getByText('Tokens in / out').waitFor();
  await shoot('playground-answer');

  const anonymous = await browser.newContext();
  const signIn = await anonymous.newPage();
  await signIn.goto(`${service.url}/console/keys`);
  await signIn.getByLabel('Password').waitFor();
  await shoot('sign-in', signIn);

  /** So that charts and tables have something to show. */
  async function sendRequests(bearer) {
    const { data } = await (
      await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } })
    ).json();
    const model = data.find(({ owned_by: owner }) => owner === 'demo')?.id ?? data[0]?.id;
    for (let index = 0; index < REQUESTS; index += 1)
      await (
        await fetch(`${service.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model,
            stream: true,
            messages: [{ role: 'user', content: `Question ${index}` }],
          }),
        })
      ).text();
  }

  async function open(path) {
    await page.goto(`${service.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  async function shoot(name, target = page) {
    if (!isWanted(name)) return;
    for (const width of WIDTHS) {
      for (const theme of THEMES) {
        await target.setViewportSize({ width, height: HEIGHT });
        await target.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        // The new colors are painted with the second frame.
        await target.evaluate(
          () =>
            new Promise((painted) => {
              requestAnimationFrame(() => requestAnimationFrame(painted));
            }),
        );
        await target.screenshot({
          path: join(folder, `${name}-${width}-${theme}.png`),
          fullPage: true,
        });
        const found = [...(await problemsOf(target)), ...notes.splice(0)];
        problems += found.length;
        for (const problem of found)
          process.stdout.write(`${name} ${width} ${theme}: ${problem}\n`);
      }
    }
  }
} finally {
  await browser.close();
  await service.stop();
}
process.stdout.write(`${folder}: ${problems} problems\n`);
process.exitCode = problems === 0 ? 0 : 1;
