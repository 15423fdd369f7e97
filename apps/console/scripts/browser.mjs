// A real browser and a real service for the screenshots: the builds, on embedded stores in a temporary folder.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@model-gateway/kernel';
import { chromium } from 'playwright-core';

/** Takes a third less CPU time than the whole browser; not every Debian has it. */
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';
const STANDALONE = fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url));
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const READY = 'Ctrl-C stops everything.';

export const openBrowser = () =>
  chromium.launch({
    executablePath: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });

/** Resolves when the service is up, with its address and a function that stops it. */
export async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'console-shots-'));
  const port = await freePort();
  const child = spawn(process.execPath, [STANDALONE], {
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: String(port),
      SERVICE_DATA_DIR: folder,
      SERVICE_LOG_LEVEL: 'error',
      SERVICE_WEBHOOK_ALLOW_PRIVATE: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes(READY)) resolve();
    });
    child.once('exit', () => reject(new Error(`the service did not start:\n${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const exited = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What is wrong with a page: WCAG 2.2 AA, a sideways scroll, refused styles and scripts. */
export async function problemsOf(page) {
  // Through the protocol: the page's own policy refuses other scripts.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    // What keeps the focus within an open menu hands it on at once.
    globalThis.axe.run(
      { exclude: ['[data-base-ui-focus-guard]'] },
      {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      },
    ),
  );
  const isWide = await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
  return [
    ...violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`).join(' | ')}`,
    ),
    ...(isWide ? ['scrolls sideways'] : []),
  ];
}
