// One run of a benchmark: the native programs, the upstream, our service and the load generator, all stopped at its end.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureToolchain } from '../../scripts/bootstrap.mjs';
import { chooseCores, moveTo } from './cores.mjs';
import { createLoad } from './load.mjs';
import { ensureNative } from './native.mjs';
import { createProcesses } from './processes.mjs';
import { describeMachine, print } from './report.mjs';
import { startService } from './service.mjs';

const INTERRUPTED = 130;
const RUN_MINUTES_MAX = 30;

/** On a terminal, replaces the line that was shown before. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

/** Calls `work` with an empty folder and a list of functions, which are called at the end, the last one first. */
export async function withScratch(work) {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-'));
  const opened = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  try {
    // Postgres runs as another user.
    await chmod(folder, 0o711);
    await work({ folder, opened });
  } finally {
    for (const close of opened.toReversed()) await close();
  }
}

/** Starts everything, calls `measure(run)` and stops everything. `prepare(context)` returns more options of the service. */
export function runBench({ options, prepare = () => ({}) }, measure) {
  return withScratch((scratch) => runIn(scratch, { options, prepare }, measure));
}

async function runIn({ folder, opened }, { options, prepare }, measure) {
  if (process.platform !== 'linux') throw new Error('the benchmark runs only on Linux');
  const native = await ensureNative();
  const cores = await chooseCores();
  const machine = await describeMachine(options, cores);
  // The stores and everything else run on this process's core, unless another one is set.
  if (cores !== undefined) await moveTo(cores.load, process.pid);
  const stopping = stopOnSignals();
  const { signal } = stopping;
  const processes = await createProcesses();
  opened.push(() => processes.stopAll());
  try {
    const context = { options, cores, folder, machine, processes, progress, signal };
    const upstream = await processes.start({
      name: 'upstream',
      command: (port) => [native.upstream, String(port)],
      cores: cores?.load,
    });
    const upstreamPort = upstream.port;
    const service = await startService({ ...context, ...(await prepare(context)), upstreamPort });
    // The stores stop last, after the processes that use them.
    opened.splice(1, 0, () => service.stop());
    const load = createLoad({ program: native.load, folder, signal });
    await measure({ ...context, upstream, service, load });
  } catch (error) {
    // The reason of the stop explains the later errors.
    throw signal.aborted ? signal.reason : error;
  } finally {
    stopping.done();
  }
}

/** Ends the run on a signal or after a time limit; everything is then stopped in order. */
function stopOnSignals() {
  const controller = new AbortController();
  const stop = (why) => () => controller.abort(new Error(why));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop('interrupted'));
  const timer = setTimeout(
    stop(`the benchmark took more than ${RUN_MINUTES_MAX} minutes`),
    RUN_MINUTES_MAX * 60_000,
  );
  return { signal: controller.signal, done: () => clearTimeout(timer) };
}

/** Runs a command: reads its options, builds what it measures and calls `main(options)`. An error becomes one line and an exit code. */
export async function runCommandLine({ usage, readOptions, main }) {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options.help) return void print(usage);
    if (options.build) {
      await ensureToolchain();
      await ensureBuilt();
    }
    await main(options);
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof Error && error.message === 'interrupted' ? INTERRUPTED : 1;
  }
}
