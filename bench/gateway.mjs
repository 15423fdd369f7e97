// `pnpm bench:gateway`: measures our gateway and its peers in one run, and prints what came out.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../scripts/bootstrap.mjs';
import { createContestants } from './contestants.mjs';
import { chooseCores, moveTo } from './cores.mjs';
import { createLoad } from './load.mjs';
import { ensureNative } from './native.mjs';
import { readOptions, USAGE } from './options.mjs';
import { createProcesses } from './processes.mjs';
import { describeMachine, textReport, verdict, writeMarkdown } from './report.mjs';
import { startService } from './service.mjs';
import { WORKS } from './works/index.mjs';

const RUN_MINUTES_MAX = 30;
const INTERRUPTED = 130;

const print = (text) => process.stdout.write(`${text}\n`);
// A line that the next one replaces, where somebody looks on.
const progress = (text) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
};

async function main() {
  const options = readOptions(
    process.argv.slice(2),
    WORKS.map(({ name }) => name),
  );
  if (options.help) {
    print(USAGE);
    return;
  }
  if (process.platform !== 'linux') throw new Error('the benchmark runs on Linux alone');
  if (options.build) await ensureBuilt();
  const native = await ensureNative();
  const cores = await chooseCores();
  const machine = await describeMachine(options, cores);
  // The stores and everything else that we start stay on our core, unless they are told otherwise.
  if (cores !== undefined) await moveTo(cores.load, process.pid);
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-'));
  await chmod(folder, 0o711);
  const stopping = stopWhenTold();
  const processes = await createProcesses();
  const opened = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  opened.push(() => processes.stopAll());
  try {
    const { signal } = stopping;
    const context = { options, cores, folder, machine, processes, progress, signal };
    await measure({ ...context, native, opened });
  } catch (error) {
    // What the end of the run broke is not the news; why it ended is.
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    stopping.done();
    for (const close of opened.toReversed()) await close();
  }
}

async function measure({ native, opened, ...context }) {
  const { options, cores, folder, machine, processes, signal } = context;
  const upstream = await processes.start({
    name: 'upstream',
    command: (port) => [native.upstream, String(port)],
    cores: cores?.load,
  });
  const service = await startService({ ...context, upstreamPort: upstream.port });
  // The stores go last: whoever uses them is stopped before.
  opened.splice(1, 0, () => service.stop());
  const load = createLoad({ program: native.load, folder, signal });
  const run = { ...context, upstream, service, load };
  const contestants = await createContestants(run);
  print(`\n${machine}`);
  for (const note of contestants.notes) print(note);
  const results = [];
  for (const work of WORKS.filter(({ name }) => options.works.includes(name))) {
    signal.throwIfAborted();
    const result = await work.run({ ...run, contestants });
    results.push({ work, result });
    progress('');
    print(textReport(work, result));
    // After each, so that a work that fails does not take what was measured before along.
    await keep(options, machine, results);
  }
}

async function keep(options, machine, results) {
  if (options.json !== undefined) {
    const works = results.map(({ work: { name, title }, result: { rows, goals } }) => ({
      name,
      title,
      rows,
      goals: goals.map((goal) => ({ ...goal, verdict: verdict(goal) })),
    }));
    await writeFile(options.json, `${JSON.stringify({ machine, works }, null, 2)}\n`);
  }
  if (options.markdown !== undefined) await writeMarkdown(options.markdown, machine, results);
}

/** Ends the run on a signal, and when it takes far too long; what was started is then stopped in order. */
function stopWhenTold() {
  const controller = new AbortController();
  const stop = (why) => () => controller.abort(new Error(why));
  const onSignal = stop('interrupted');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, onSignal);
  const timer = setTimeout(
    stop(`the benchmark took more than ${RUN_MINUTES_MAX} minutes`),
    RUN_MINUTES_MAX * 60_000,
  );
  return {
    signal: controller.signal,
    done: () => clearTimeout(timer),
  };
}

try {
  await main();
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Error && error.message === 'interrupted' ? INTERRUPTED : 1;
}
