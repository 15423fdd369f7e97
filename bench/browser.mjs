// `pnpm bench:browser`: compares our browser tool with two other MCP servers for browsers on the same page.
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/bootstrap.mjs';
import { contestants } from './browser/contestants.mjs';
import { measureRound } from './browser/measure.mjs';
import { servePages } from './browser/pages.mjs';
import { ensurePeers } from './browser/peers.mjs';
import { tableOf, WORK } from './browser/table.mjs';
import { resolveFromCaller } from './options.mjs';
import { describeMachine, textReport, writeMarkdown } from './report.mjs';

const USAGE = `pnpm bench:browser [options]

  --quick          one short round: to see that everything runs, not to quote
  --rounds COUNT   how often everybody is started anew; else 5
  --samples COUNT  how often each is asked for each thing in a round; else 15
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const FULL = { rounds: 5, samples: 15 };
const QUICK = { rounds: 1, samples: 3 };
const INTERRUPTED = 130;

const print = (text) => process.stdout.write(`${text}\n`);

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return print(USAGE);
  if (options.build) await ensureBuilt();
  const peers = await ensurePeers();
  const refused = peers.missing.map((label) => ({ label, refusal: 'it could not be fetched' }));
  const machine = await describeMachine({ node: process.execPath, quick: options.quick });
  print(machine);
  const pages = await servePages();
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-browser-'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => leave(folder));
  try {
    const everybody = contestants({ executable: await findBrowser(), peers });
    const context = { pages, samples: options.samples, tokens: peers.tokens, folder };
    const { measured, failed } = await takeTurns(everybody, options.rounds, context);
    await report(options, machine, tableOf(measured, [...refused, ...failed]), measured);
  } finally {
    pages.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A contestant and its browser end with its input. */
function leave(folder) {
  rmSync(folder, { recursive: true, force: true });
  process.exit(INTERRUPTED);
}

/** Runs several rounds. A peer that fails is skipped from then on; a failure of our tool ends the run. */
async function takeTurns(everybody, count, context) {
  let measured = everybody.map((contestant) => ({ ...contestant, rounds: [] }));
  const failed = [];
  const leaveOut = ({ name, label }, error) => {
    if (name === 'ours') throw error;
    failed.push({ label, refusal: error.message });
    measured = measured.filter((each) => each.name !== name);
  };
  for (let round = 1; round <= count; round += 1) {
    print(`round ${round} of ${count}`);
    const found = await measureRound(measured, context, leaveOut);
    for (const { name, rounds } of measured) rounds.push(found.get(name));
  }
  return { measured, failed };
}

async function report(options, machine, result, measured) {
  print(textReport(WORK, result));
  if (options.json !== undefined) {
    const rounds = Object.fromEntries(measured.map((each) => [each.name, each.rounds]));
    const text = JSON.stringify({ machine, ...result, rounds }, null, 2);
    await writeFile(options.json, `${text}\n`);
  }
  if (options.markdown !== undefined) {
    await writeMarkdown(options.markdown, machine, [{ work: WORK, result }]);
  }
}

/** The browser that our tool would start; the peers get the same. */
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
    // pnpm also passes its separator.
    args: args.filter((argument) => argument !== '--'),
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      samples: { type: 'string' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.markdown !== undefined && values.quick) {
    throw new Error('a quick run is not precise, so --markdown is not allowed with it');
  }
  const size = values.quick ? QUICK : FULL;
  return {
    ...values,
    rounds: countOf('rounds', values.rounds, size.rounds),
    samples: countOf('samples', values.samples, size.samples),
    json: resolveFromCaller(values.json),
    markdown: resolveFromCaller(values.markdown),
    build: !values['no-build'],
  };
}

function countOf(name, given, otherwise) {
  const count = Number(given ?? otherwise);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--${name} must be a whole number above 0, not ${given}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
