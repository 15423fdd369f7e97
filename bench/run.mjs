// One run of a benchmark: the native programs, the upstream, our service and the load generator, all stopped at its end.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseCores, moveTo } from './cores.mjs';
import { createLoad } from './load.mjs';
import { ensureNative } from './native.mjs';
import { createProcesses } from './processes.mjs';
import { describeMachine } from './report.mjs';
import { startService } from './service.mjs';

const INTERRUPTED = 130;

export const print = (text) => process.stdout.write(`${text}\n`);

/** On a terminal, replaces the line that was shown before. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

/** Starts everything, calls `measure(run)` and stops everything. */
export async function runBench({ options, minutesMax, service: serviceOptions }, measure) {
  if (process.platform !== 'linux') throw new Error('the benchmark runs only on Linux');
  const native = await ensureNative();
  const cores = await chooseCores();
  const machine = await describeMachine(options, cores);
  // The stores and everything else run on this process's core, unless another one is set.
  if (cores !== undefined) await moveTo(cores.load, process.pid);
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-bench-'));
  await chmod(folder, 0o711);
  const stopping = stopOnSignals(minutesMax);
  const { signal } = stopping;
  const processes = await createProcesses();
  const opened = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  opened.push(() => processes.stopAll());
  try {
    const context = { options, cores, folder, machine, processes, progress, signal };
    const upstream = await processes.start({
      name: 'upstream',
      command: (port) => [native.upstream, String(port)],
      cores: cores?.load,
    });
    const upstreamPort = upstream.port;
    const service = await startService({ ...context, ...serviceOptions, upstreamPort });
    // The stores stop last, after the processes that use them.
    opened.splice(1, 0, () => service.stop());
    const load = createLoad({ program: native.load, folder, signal });
    await measure({ ...context, upstream, service, load });
  } catch (error) {
    // The reason of the stop explains the later errors.
    throw signal.aborted ? signal.reason : error;
  } finally {
    stopping.done();
    for (const close of opened.toReversed()) await close();
  }
}

/** Ends the run on a signal or after a time limit; everything is then stopped in order. */
function stopOnSignals(minutesMax) {
  const controller = new AbortController();
  const stop = (why) => () => controller.abort(new Error(why));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop('interrupted'));
  const timer = setTimeout(
    stop(`the benchmark took more than ${minutesMax} minutes`),
    minutesMax * 60_000,
  );
  return { signal: controller.signal, done: () => clearTimeout(timer) };
}

/** Runs a command's main function; an error becomes one line and an exit code. */
export async function runCommandLine(main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof Error && error.message === 'interrupted' ? INTERRUPTED : 1;
  }
}
