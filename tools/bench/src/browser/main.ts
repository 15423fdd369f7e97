import { readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensurePackage } from '../measure/npm-package.ts';
import { medians, type Sample } from '../measure/statistics.ts';
import { machine, markdown, print, shown } from '../measure/table.ts';
import { ask, ours, peers } from './candidates.ts';
import { browsersOf, measureRound } from './measure.ts';
import { servePages } from './pages.ts';
import { connectStdio } from './stdio-client.ts';

export const USAGE = `pnpm --filter bench start browser [options]

Measures the browser tool beside two other MCP servers, with the same browser and page.

  --quick   one short round, to see that everything runs; the numbers mean nothing
`;

const FULL = { rounds: 5, samples: 15 };
const QUICK = { rounds: 1, samples: 3 };
const MEASURES: Readonly<Record<string, string>> = {
  initializeMs: 'initialize, ms',
  navigateMs: 'navigate, ms',
  clickMs: 'click, ms',
  typeMs: 'type, ms',
  evaluateMs: 'evaluate, ms',
  snapshotMs: 'snapshot, ms',
  screenshotMs: 'screenshot, ms',
  snapshotChars: 'snapshot, characters',
  snapshotTokens: 'snapshot, tokens (o200k)',
  toolsTokens: 'tools/list, tokens (o200k)',
  eofMs: 'browser gone after the end of input, ms',
  killMs: 'browser gone after SIGKILL, ms',
  memoryMb: 'memory of server and browser, MB',
  coveredMs: 'click on a covered element fails after, ms',
  isCoverNamed: '– and names the cover (1: yes)',
  isDeadReported: 'a navigation that fails is reported (1: yes)',
  failuresAfterDead: '– navigations that fail after it',
};

/** Compares our browser tool with its peers. */
export async function benchBrowser(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false } },
  });
  const { rounds, samples } = values.quick ? QUICK : FULL;
  print(machine());
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-'));
  const pages = await servePages();
  try {
    const executable = await findBrowser(folder, pages.shop);
    const candidates = [...peers(executable), ours(executable)];
    const found = candidates.map((): Sample[] => []);
    for (let round = 1; round <= rounds; round += 1) {
      print(`round ${round} of ${rounds}`);
      const setting = { pages, samples, folder, tokens: tokenCounter() };
      const results = await measureRound(candidates, setting);
      for (const [index, sample] of results.entries()) found[index]?.push(sample);
    }
    const labels = candidates.map(({ label }) => label);
    for (const line of ['', ...tableOf(labels, found.map(medians)), '']) print(line);
  } finally {
    pages.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A row for each measure; the last column is the ratio of ours to the better peer. */
function tableOf(labels: readonly string[], results: readonly Sample[]): readonly string[] {
  const rows = Object.entries(MEASURES).map(([key, label]) => {
    const values = results.map((each) => each[key] ?? NaN);
    const better = Math.min(...values.slice(0, -1));
    const ratio = (values.at(-1) ?? NaN) / better;
    return [label, ...values.map((value) => shown(value, 0)), shown(ratio, 2)];
  });
  return markdown([['', ...labels, '× the better peer'], ...rows]);
}

/** The browser that our tool starts; the peers get the same. */
async function findBrowser(cwd: string, url: string): Promise<string> {
  const tool = ours();
  const client = await connectStdio({ ...tool, cwd });
  try {
    const { isError, text } = await ask(tool, client, 'navigate', url);
    const [browser] = browsersOf(client.pid);
    if (isError || browser === undefined) throw new Error(`no browser: ${text}`);
    return readlinkSync(`/proc/${browser}/exe`);
  } finally {
    client.closeInput();
  }
}

/** Counts tokens as o200k does; undefined if the counter cannot be downloaded. */
function tokenCounter(): ((text: string) => number) | undefined {
  const manifest = ensurePackage({
    name: 'gpt-tokenizer',
    version: '4.0.0',
    program: 'package.json',
  });
  if (manifest === undefined) return undefined;
  const load = createRequire(manifest);
  const tokenizer = load('gpt-tokenizer/encoding/o200k_base') as {
    encode(text: string): readonly number[];
  };
  return (text) => tokenizer.encode(text).length;
}
