// `pnpm bench:browser`: compares our browser tool with two other MCP servers for browsers on the same page.
import { rmSync } from 'node:fs';
import { candidates } from './browser/candidates.mjs';
import { measureRound } from './browser/measure.mjs';
import { servePages } from './browser/pages.mjs';
import { ensurePeers } from './browser/peers.mjs';
import { tableOf, WORK } from './browser/table.mjs';
import { parseOptions } from './options.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';

const USAGE = `pnpm bench:browser [options]

  --quick          one short round: to see that everything runs, not to quote
  --rounds COUNT   how often all are started anew; else 5
  --samples COUNT  how often each is asked for each thing in a round; else 15
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const FULL = { rounds: 5, samples: 15 };
const QUICK = { rounds: 1, samples: 3 };
const INTERRUPTED = 130;

async function measure(options, { folder, opened }) {
  const peers = await ensurePeers();
  const refused = peers.missing.map((label) => ({ label, refusal: 'it could not be fetched' }));
  const machine = await describeMachine({ node: process.execPath, quick: options.quick });
  print(machine);
  const pages = await servePages();
  opened.push(() => pages.close());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => leave(folder));
  const all = candidates({ executable: await findBrowser(), peers });
  const context = { pages, samples: options.samples, tokens: peers.tokens, folder };
  const { measured, failed } = await takeTurns(all, options.rounds, context);
  const rounds = Object.fromEntries(measured.map((each) => [each.name, each.rounds]));
  await report(options, machine, WORK, { ...tableOf(measured, [...refused, ...failed]), rounds });
}

/** A candidate and its browser end with its input. */
function leave(folder) {
  rmSync(folder, { recursive: true, force: true });
  process.exit(INTERRUPTED);
}

/** Runs several rounds. A peer that fails is skipped from then on; a failure of our tool ends the run. */
async function takeTurns(all, count, context) {
  let measured = all.map((candidate) => ({ ...candidate, rounds: [] }));
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

/** The browser that our tool would start; the peers get the same. */
async function findBrowser() {
  const built = (path) =>
    import(new URL(`../../apps/browser-tool/dist/${path}`, import.meta.url).href);
  const [{ readBrowserToolConfig }, { resolveBrowser }] = await Promise.all([
    built('config.js'),
    built('resolve/index.js'),
  ]);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { executable } = await resolveBrowser(readBrowserToolConfig().resolve, log);
  return executable;
}

function readOptions(args) {
  const values = parseOptions(args, {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    samples: { type: 'string' },
  });
  const size = values.quick ? QUICK : FULL;
  return {
    ...values,
    rounds: countOf('rounds', values.rounds, size.rounds),
    samples: countOf('samples', values.samples, size.samples),
  };
}

function countOf(name, given, otherwise) {
  const count = Number(given ?? otherwise);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--${name} must be a whole number above 0, not ${given}`);
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => measure(options, scratch)),
});
