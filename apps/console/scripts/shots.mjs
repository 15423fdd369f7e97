// `pnpm --filter console shots [folder] [names]`: screenshots of every page, or of those whose names begin with one of the given (`usage,keys`), at three widths, light and dark, and what is wrong with each; also of the pages in the other languages, on a phone.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser, problemsOf, startService } from './browser.mjs';
import { PAGES, TRANSLATED_PATHS } from './pages.mjs';

const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'];
const HEIGHT = 900;
const REQUESTS = 20;
const LANGUAGES = { de: 'de-DE', zh: 'zh-CN' };
const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const MEMBER = { email: 'member@example.com', password: 'another password' };

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
  listen(page);

  await page.goto(`${service.url}/`);
  await page.getByLabel('Email').waitFor();
  await shoot('welcome-1-account');
  await page.getByLabel('Email').fill(ADMIN.email);
  await page.getByLabel('Password').fill(ADMIN.password);
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

  await shootSignedOut();
  await shootMember();
  for (const [language, locale] of Object.entries(LANGUAGES)) await shootIn(language, locale);

  /** Pages for someone who has no session. */
  async function shootSignedOut() {
    const stranger = await (await browser.newContext()).newPage();
    listen(stranger);
    await stranger.goto(`${service.url}/console/keys`);
    await stranger.getByLabel('Password').waitFor();
    await shoot('sign-in', stranger);
    await stranger.getByLabel('Email').fill(ADMIN.email);
    await stranger.getByLabel('Password').fill('a wrong password');
    await stranger.keyboard.press('Enter');
    await stranger.getByText('Email or password is wrong.').waitFor();
    await shoot('sign-in-wrong', stranger);
    await stranger.getByRole('button', { name: 'Create an account' }).click();
    await shoot('sign-in-register', stranger);
    await stranger.goto(`${service.url}/console/sign-in?expired=true`);
    await stranger.getByLabel('Password').waitFor();
    await shoot('sign-in-expired', stranger);
    await stranger.goto(`${service.url}/console/invite#token`);
    await stranger.getByRole('heading', { level: 1 }).waitFor();
    await shoot('invite-signed-out', stranger);
  }

  /** A page of admins, for someone who is none. */
  async function shootMember() {
    const member = await signedIn('/register', MEMBER);
    await member.goto(`${service.url}/console/backends`);
    await member.getByRole('heading', { level: 1 }).waitFor();
    await shoot('admins-only', member);
    await member.goto(`${service.url}/console/usage`);
    await member.locator('canvas, .empty').first().waitFor();
    await shoot('usage-empty', member);
    await member.goto(`${service.url}/console/keys`);
    await member.locator('.empty').waitFor();
    await shoot('keys-empty', member);
  }

  /** The pages in another language, on a phone: words are longer in some. */
  async function shootIn(language, locale) {
    if (!isWanted(language)) return;
    const reader = await signedIn('', ADMIN, { locale });
    for (const path of TRANSLATED_PATHS) {
      await reader.goto(`${service.url}/console${path}`);
      await reader.getByRole('heading', { level: 1 }).waitFor();
      await reader.waitForFunction(() => document.querySelector('.skeleton, .chart-wait') === null);
      const name = path.split('?')[0].slice(1).replaceAll('/', '-');
      await shoot(`${language}-${name}`, reader, { widths: [360], themes: ['light'] });
    }
  }

  async function signedIn(path, account, options = {}) {
    const own = await browser.newContext(options);
    await own.request.post(`${service.url}/api/session${path}`, {
      headers: { origin: service.url },
      data: account,
    });
    const opened = await own.newPage();
    listen(opened);
    return opened;
  }

  function listen(target) {
    target.on('console', (message) => {
      // A page without a session gets this status.
      const isSignedOut = message.text().includes('401 (Unauthorized)');
      if (message.type() === 'error' && !isSignedOut) notes.push(message.text());
    });
    target.on('pageerror', (error) => notes.push(String(error)));
  }

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

  async function shoot(name, target = page, { widths = WIDTHS, themes = THEMES } = {}) {
    if (!isWanted(name)) return;
    for (const width of widths) {
      for (const theme of themes) {
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
