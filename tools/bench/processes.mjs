// The processes of a run. Each has a guard that ends it with the benchmark.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pinned } from './cores.mjs';

const FETCHES_MAX = 300;
const FETCH_AGAIN_MS = 200;

const READY_TIMEOUT_MS = 60_000;
const READY_INTERVAL_MS = 50;
const GRACE_SECONDS = 10;
const NS_PER_MS = 1e6;

/** Loads the build of one of our packages. */
export async function importBuild(name, entry = 'index.js') {
  const file = new URL(`../../packages/${name}/dist/${entry}`, import.meta.url);
  if (!existsSync(file)) throw new Error(`${name} is not built: run \`pnpm build\` first`);
  return import(file.href);
}

/** Creates the function that starts processes, and the one that stops all of them. */
export async function createProcesses() {
  const { freePort, startGuarded, SYSTEM_ENVIRONMENT } = await importBuild('kernel');
  const running = new Set();

  /** Starts `command(port)` and waits until its port is open. Writes its output to a file, if one is given. */
  async function start({ name, command, cores, outputFile, environment = () => ({}) }) {
    const port = await freePort();
    const child = startGuarded({
      command: pinned(cores, printingTo(outputFile, await command(port))),
      graceSeconds: GRACE_SECONDS,
      environment: { ...SYSTEM_ENVIRONMENT, ...environment(port) },
    });
    const started = {
      name,
      port,
      pid: await child.pid,
      async stop() {
        running.delete(started);
        await child.stop();
      },
    };
    running.add(started);
    const outcome = await Promise.race([
      untilListening(port),
      child.exited.then((status) => `ended with status ${status}`),
    ]);
    if (outcome === 'listening') return started;
    await started.stop();
    const printed =
      outputFile === undefined ? child.lastLines() : [readFileSync(outputFile, 'utf8')];
    throw new Error(`${name} ${outcome}: ${printed.join('\n')}`);
  }

  return {
    start,
    stopAll: () => Promise.all([...running].map((child) => child.stop())).then(() => undefined),
  };
}

/** A file needs no reader; the output of a pipe would have to be read by this process. */
const printingTo = (file, command) =>
  file === undefined ? command : ['sh', '-c', 'exec "$@" >"$0" 2>&1', file, ...command];

async function untilListening(port) {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await isListening(port)) return 'listening';
    await sleep(READY_INTERVAL_MS);
  }
  return 'did not listen in time';
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** The CPU time of a process in milliseconds; undefined if the system does not report it. */
export function cpuMs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return ns.reduce((sum, value) => sum + value, 0) / NS_PER_MS;
  } catch {
    return undefined;
  }
}

/**
 * Fetches with retries: ports are reused, so a pooled connection may belong to an earlier process, and a new process may respond
 * slowly.
 */
export async function fetchAnew(url, options) {
  for (let left = FETCHES_MAX; ; left -= 1) {
    try {
      return await fetch(url, options);
    } catch (error) {
      if (left === 0) throw new Error(`${url}: ${error.cause ?? error}`, { cause: error });
      await sleep(FETCH_AGAIN_MS);
    }
  }
}

/** A process and its children. */
export function familyOf(pid) {
  const children = readdirSync('/proc').filter((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      return new RegExp(`^PPid:\\s*${pid}$`, 'm').test(status);
    } catch {
      // Not a process, or one that has just ended.
      return false;
    }
  });
  return [pid, ...children.map(Number)];
}

/** The memory of a process in megabytes. */
export function rssMb(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  } catch {
    return undefined;
  }
}
