// `pnpm bench:browser`: measures our browser tool and two MCP servers for browsers on the same page, and prints how we compare.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/bootstrap.mjs';
import { contestants } from './browser/contestants.mjs';
import { measureRound, middle } from './browser/measure.mjs';
import { servePages } from './browser/pages.mjs';
import { ensurePeers } from './browser/peers.mjs';
import { describeMachine, textReport, writeMarkdown } from './report.mjs';

const USAGE = `pnpm bench:browser [options]

  --rounds COUNT   how often everybody is started anew; else 5
  --samples COUNT  how often each is asked for each thing in a round; else 15
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const WORK = {
  name: 'browser',
  title: 'browser tool and its peers over stdio, medians',
  columns: [
    { key: 'playwright', label: '@playwright/mcp', digits: 0 },
    { key: 'devtools', label: 'chrome-devtools-mcp', digits: 0 },
    { key: 'ours', label: 'browser-tool', digits: 0 },
    { key: 'ratio', label: '× better peer', digits: 2 },
  ],
};

// `ratio` is what we want to be at most, times the better of the peers; `atMost` is a number of its own.
const MEASURES = [
  { key: 'initializeMs', label: 'initialize, ms', ratio: 0.79 },
  { key: 'navigateMs', label: 'navigate, ms', ratio: 0.7 },
  { key: 'clickMs', label: 'click, ms', ratio: 0.35 },
  { key: 'typeMs', label: 'type, ms', atMost: 60 },
  { key: 'evaluateMs', label: 'evaluate, ms', ratio: 0.05 },
  { key: 'snapshotMs', label: 'snapshot, ms', ratio: 1 },
  { key: 'screenshotMs', label: 'screenshot, ms', ratio: 0.7 },
  { key: 'snapshotTokens', label: 'snapshot, tokens', atMost: 2350 },
  { key: 'toolsTokens', label: 'tools/list, tokens', atMost: 1700 },
  { key: 'coveredMs', label: 'click on a covered element, ms', atMost: 1100 },
  { key: 'failuresAfterDead', label: 'failures after a failed navigation', atMost: 0 },
  { key: 'eofMs', label: 'browser gone after end of input, ms', atMost: 300 },
  { key: 'killMs', label: 'browser gone after SIGKILL, ms', atMost: 2500 },
];
const OUTCOMES = ['coveredOutcome', 'deadOutcome'];

const print = (text) => process.stdout.write(`${text}\n`);

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    print(USAGE);
    return;
  }
  if (options.build) await ensureBuilt();
  const peers = await ensurePeers();
  if (peers === undefined) print('The peers could not be fetched: only we are measured.');
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const pages = await servePages();
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-browser-'));
  try {
    const everybody = contestants({ executable: await findBrowser(), peers });
    const rounds = new Map(everybody.map(({ name }) => [name, []]));
    for (let round = 1; round <= options.rounds; round += 1) {
      print(`round ${round} of ${options.rounds}`);
      for (const contestant of everybody) {
        const context = { pages, samples: options.samples, tokens: peers?.tokens, folder };
        rounds.get(contestant.name).push(await measureRound(contestant, context));
      }
    }
    await report(options, machine, rounds);
  } finally {
    pages.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function report(options, machine, rounds) {
  const valueOf = (name, key) => middle((rounds.get(name) ?? []).map((round) => round[key]));
  const rows = MEASURES.map(({ key, label }) => {
    const values = Object.fromEntries([...rounds.keys()].map((name) => [name, valueOf(name, key)]));
    const better = Math.min(values.playwright ?? Infinity, values.devtools ?? Infinity);
    return {
      key,
      label,
      ...values,
      ratio: better > 0 && better < Infinity ? values.ours / better : undefined,
    };
  });
  const goals = MEASURES.map(({ key, label, ratio, atMost }) => {
    const row = rows.find((each) => each.key === key);
    return ratio === undefined
      ? { what: label, atMost, unit: '', measured: row.ours }
      : {
          what: label.replace(/, ms$/, ''),
          atMost: ratio,
          unit: '× the better peer',
          measured: row.ratio,
        };
  });
  print(textReport(WORK, { rows, goals }));
  for (const [name, each] of rounds) {
    for (const outcome of OUTCOMES) print(`${name}, ${outcome}: ${each.at(-1)?.[outcome]}`);
  }
  if (options.json !== undefined) {
    const measurements = Object.fromEntries(rounds);
    await writeFile(options.json, `${JSON.stringify({ machine, rows, measurements }, null, 2)}\n`);
  }
  if (options.markdown !== undefined) {
    await writeMarkdown(options.markdown, machine, [{ work: WORK, result: { rows, goals } }]);
  }
}

/** The browser that our own tool would start; the peers get the same. */
async function findBrowser() {
  const built = (path) =>
    import(new URL(`../apps/browser-tool/dist/${path}`, import.meta.url).href);
  const [{ readBrowserToolConfig }, { resolveBrowser }] = await Promise.all([
    built('config.js'),
    built('resolve/index.js'),
  ]);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { executable } = await resolveBrowser(readBrowserToolConfig().resolve, log);
  return executable;
}

function readOptions(args) {
  const { values } = parseArgs({
    args: args.filter((each) => each !== '--'),
    options: {
      rounds: { type: 'string', default: '5' },
      samples: { type: 'string', default: '15' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    ...values,
    rounds: Number(values.rounds),
    samples: Number(values.samples),
    build: !values['no-build'],
  };
}

await main();
