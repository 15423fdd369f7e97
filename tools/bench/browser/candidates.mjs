// How to start each candidate, and its names for the operations.
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../apps/browser-tool/dist/main.js', import.meta.url));

const textOf = ({ content }) => content.map(({ text = '' }) => text).join('\n');

/** The available candidates, ours last. All get the same browser. */
export function candidates({ executable, peers }) {
  const isRoot = process.getuid?.() === 0;
  return [
    ...(peers.playwright === undefined ? [] : [playwright(peers.playwright, executable, isRoot)]),
    ...(peers.devtools === undefined ? [] : [devtools(peers.devtools, executable, isRoot)]),
    { ...ours, environment: { BROWSER_BACKEND: 'chromium', CHROMIUM_PATH: executable } },
  ];
}

const refAfter = (text, control) =>
  new RegExp(`${control}[^\\n]*?\\[ref=(e\\d+)\\]`).exec(text)?.[1];

const ours = {
  name: 'ours',
  label: 'browser-tool',
  command: [process.execPath, MAIN, 'mcp'],
  tools: {
    navigate: (url) => ['browser_navigate', { url }],
    snapshot: () => ['browser_snapshot', {}],
    click: (target) => ['browser_click', { target }],
    type: (target, text) => ['browser_type', { target, text }],
    evaluate: (source) => ['browser_evaluate', { function: source }],
    screenshot: () => ['browser_screenshot', {}],
  },
  refOf: refAfter,
};

const playwright = (program, executable, isRoot) => ({
  name: 'playwright',
  label: '@playwright/mcp',
  command: [
    process.execPath,
    program,
    '--headless',
    '--isolated',
    '--browser=chromium',
    `--executable-path=${executable}`,
    ...(isRoot ? ['--no-sandbox'] : []),
  ],
  tools: { ...ours.tools, screenshot: () => ['browser_take_screenshot', { scale: 'css' }] },
  // It gives no ref to covered elements, so a selector is used.
  refOf: (text, control, selector) => refAfter(text, control) ?? selector,
});

const devtools = (program, executable, isRoot) => ({
  name: 'devtools',
  label: 'chrome-devtools-mcp',
  command: [
    process.execPath,
    program,
    '--headless',
    '--isolated',
    '--no-usage-statistics',
    `--executablePath=${executable}`,
    ...(isRoot ? ['--chromeArg=--no-sandbox'] : []),
  ],
  // Its tools require the number of a page, which is in its list of pages.
  prepare: (client) => client.call('list_pages', {}),
  tools: {
    navigate: (url) => ['navigate_page', { pageId: 1, type: 'url', url }],
    snapshot: () => ['take_snapshot', { pageId: 1 }],
    click: (uid) => ['click', { pageId: 1, uid }],
    type: (uid, value) => ['fill', { pageId: 1, uid, value }],
    evaluate: (source) => ['evaluate_script', { pageId: 1, function: source }],
    screenshot: () => ['take_screenshot', { pageId: 1 }],
  },
  refOf: (text, control) => new RegExp(`uid=(\\S+) ${control}`).exec(text)?.[1],
});

/** Runs an operation of a candidate; returns its duration and result. */
export async function ask({ client, tools }, operation, ...args) {
  const [name, parameters] = tools[operation](...args);
  const start = performance.now();
  const result = await client.call(name, parameters);
  return { ms: performance.now() - start, text: textOf(result), isError: result.isError === true };
}
