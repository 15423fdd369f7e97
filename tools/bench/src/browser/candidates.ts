import { resolve } from 'node:path';
import { ensurePackage } from '../measure/npm-package.ts';
import type { McpClient } from './stdio-client.ts';

type Operation = 'navigate' | 'snapshot' | 'click' | 'type' | 'evaluate' | 'screenshot';
type ToolCall = readonly [name: string, args: object];

/** A server for browsers, and its names for the operations. */
export interface Candidate {
  readonly name: string;
  readonly label: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<Operation, (...args: readonly string[]) => ToolCall>>;
  /** The name of a control in a snapshot. */
  refOf(snapshot: string, control: string, selector?: string): string | undefined;
  prepare?(client: McpClient): Promise<unknown>;
}

const MAIN = resolve(import.meta.dirname, '../../../../apps/browser-tool/dist/main.js');

const refAfter = (text: string, control: string): string | undefined =>
  new RegExp(`${control}[^\\n]*?\\[ref=(e\\d+)\\]`).exec(text)?.[1];

/** Our tool; it finds its own browser if none is named. */
export const ours = (executable?: string): Candidate => ({
  name: 'ours',
  label: 'browser-tool',
  command: [process.execPath, MAIN, 'mcp'],
  environment: {
    BROWSER_BACKEND: 'chromium',
    ...(executable === undefined ? {} : { CHROMIUM_PATH: executable }),
  },
  tools: {
    navigate: (url) => ['browser_navigate', { url }],
    snapshot: () => ['browser_snapshot', {}],
    click: (target) => ['browser_click', { target }],
    type: (target, text) => ['browser_type', { target, text }],
    evaluate: (source) => ['browser_evaluate', { function: source }],
    screenshot: () => ['browser_screenshot', {}],
  },
  refOf: refAfter,
});

/** The two most used servers, as far as they can be downloaded. */
export function peers(executable: string): readonly Candidate[] {
  const isRoot = process.getuid?.() === 0;
  const playwright = ensurePackage({
    name: '@playwright/mcp',
    version: '0.0.83',
    program: 'cli.js',
  });
  const devtools = ensurePackage({
    name: 'chrome-devtools-mcp',
    version: '1.11.0',
    program: 'build/src/bin/chrome-devtools-mcp.js',
  });
  const common = ['--headless', '--isolated'];
  return [
    ...(playwright === undefined ? [] : [ofPlaywright(playwright)]),
    ...(devtools === undefined ? [] : [ofDevtools(devtools)]),
  ];

  function ofPlaywright(program: string): Candidate {
    const browser = ['--browser=chromium', `--executable-path=${executable}`];
    return {
      name: 'playwright',
      label: '@playwright/mcp 0.0.83',
      command: [
        process.execPath,
        program,
        ...common,
        ...browser,
        ...(isRoot ? ['--no-sandbox'] : []),
      ],
      tools: { ...ours().tools, screenshot: () => ['browser_take_screenshot', { scale: 'css' }] },
      // It gives no ref to covered elements, so a selector is used.
      refOf: (text, control, selector) => refAfter(text, control) ?? selector,
    };
  }

  function ofDevtools(program: string): Candidate {
    const browser = ['--no-usage-statistics', `--executablePath=${executable}`];
    return {
      name: 'devtools',
      label: 'chrome-devtools-mcp 1.11.0',
      command: [
        process.execPath,
        program,
        ...common,
        ...browser,
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
    };
  }
}

interface Answer {
  readonly ms: number;
  readonly text: string;
  readonly isError: boolean;
}

/** Runs an operation, whether it fails or not. */
export async function ask(
  { tools }: Candidate,
  client: McpClient,
  operation: Operation,
  ...args: readonly string[]
): Promise<Answer> {
  const [name, given] = tools[operation](...args);
  const startedAt = performance.now();
  const { content, isError = false } = await client.call(name, given);
  const text = content.map((part) => part.text ?? '').join('\n');
  return { ms: performance.now() - startedAt, text, isError };
}
