// `node scripts/node24.mjs <program> [arguments]` runs a program of this repository on Node 24 or newer. If the Node that runs
// this is older, the program runs in a process of its own, on the Node 24 that npm fetches into .tools.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureTool } from './ensure-tool.mjs';
import { endChildrenOnSignal, fail } from './run-command.mjs';
import { nodeProblem } from './start-problems.mjs';
import { stopWithParent } from './stop-with-parent.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const NODE_MAJOR = 24;

/** Returns if this is Node 24 or newer. Otherwise runs the program of this process again on Node 24, and ends as it ends. */
export async function continueOnNode24() {
  const { node: version } = process.versions;
  const problem = nodeProblem(version);
  if (problem !== undefined) fail(problem);
  stopWithParent();
  if (Number.parseInt(version, 10) >= NODE_MAJOR) return;
  const releaseSignals = endChildrenOnSignal();
  const node = await ensureTool('node');
  releaseSignals();
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  const forward = (signal) => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  await new Promise(() => {
    child.once('error', (error) => fail(`Node ${NODE_MAJOR} could not be run: ${error.message}`));
    child.once('exit', (status, signal) => {
      if (signal === null) process.exit(status);
      for (const each of SIGNALS) process.off(each, forward);
      process.kill(process.pid, signal);
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.argv.splice(1, 2, resolve(process.argv[2]));
  await continueOnNode24();
  await import(pathToFileURL(process.argv[1]).href);
}
