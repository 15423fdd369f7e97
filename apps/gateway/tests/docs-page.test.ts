import { existsSync } from 'node:fs';
import { ERROR_HELP } from '@model-gateway/contracts';
import { chromium, type Browser } from 'playwright-core';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';
import { startGateway, type GatewayUnderTest } from './gateway.ts';

interface ErrorBody {
  readonly error: { readonly doc?: string };
}

/** Takes a third less CPU time than the whole browser; not every Debian has it. */
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';

let gateway: GatewayUnderTest;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await chromium.launch({
    executablePath: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });
});
afterAll(async () => {
  await browser.close();
  await gateway.test.close();
});

test('an error names the row that explains it, if the public address is known', async () => {
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_PUBLIC_URL: 'https://models.example.com/',
  });
  const url = await gateway.test.serve(createGateway(config, gateway.test.context));
  const refused = (await (await fetch(`${url}/api/admin/backends`)).json()) as ErrorBody;
  expect(refused.error.doc).toBe('https://models.example.com/docs/errors#unauthorized');
  const page = await browser.newPage();
  await page.goto(`${url}/docs/errors#unauthorized`);
  const row = await page.locator('tr:target').innerText();
  expect(row).toMatch(/^401\s+unauthorized\s+-32005\s/);
  expect(await page.locator('tbody tr').count()).toBe(Object.keys(ERROR_HELP).length);
  await page.close();
  const without = (await (await fetch(`${gateway.url}/api/admin/backends`)).json()) as ErrorBody;
  expect(without.error).not.toHaveProperty('doc');
});

test('the docs page shows every operation and loads nothing from other hosts', async () => {
  const page = await browser.newPage();
  const foreign: string[] = [];
  const problems: string[] = [];
  const blocked: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(gateway.url)) foreign.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => blocked.push(message.text()));
  const response = await page.goto(`${gateway.url}/docs`);
  await page.waitForSelector('#operations:not([aria-busy])');
  expect(await page.title()).toBe('Model Gateway API');
  const operations = await page.locator('details summary').allInnerTexts();
  expect(operations).toContainEqual(expect.stringMatching(/post.*\/v1\/chat\/completions/i));
  expect(operations).toHaveLength(23);
  expect(operations).toContainEqual(
    expect.stringMatching(/get.*\/v1\/models.*apiKey or accessToken/i),
  );
  expect(operations).toContainEqual(
    expect.stringMatching(/delete.*\/api\/admin\/backends.*adminToken/i),
  );
  await page.locator('summary', { hasText: '/v1/chat/completions' }).click();
  expect(await page.locator('details[open] pre').first().innerText()).toContain('"messages"');
  expect(foreign).toEqual([]);
  expect(problems).toEqual([]);
  const headers = response?.headers() ?? {};
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['content-security-policy']).not.toContain('unsafe-inline');
  // The policy is in force: what is not part of the page does not run.
  await page.evaluate(
    'const script = document.createElement("script"); script.textContent = "document.title = 1"; document.body.append(script);',
  );
  expect(await page.title()).toBe('Model Gateway API');
  expect(blocked.join()).toContain('Content Security Policy');
  await page.close();
});
