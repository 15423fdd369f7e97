// Runs jest for the test command.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT, runCommand } from '../run-command.mjs';

const SCRATCH = /^model-gateway-tests-(\d+)-/;
/** A machine that is busy makes a few files fail; more than these are a fault that a second try would only hide. */
const SECOND_TRIES = 3;

/**
 * Runs the tests that the arguments choose and returns `{ ok, passed, failed, skipped }`. In a run of everything, up to three
 * files that failed are run once more, alone, and are named when they pass then.
 */
export async function runTests(args) {
  const scratch = makeScratchFolder();
  const first = await runJest(args, scratch);
  const files = first.failedFiles;
  if (first.ok || args.length > 0 || files.length === 0 || files.length > SECOND_TRIES)
    return first;

  const names = files.map(({ path }) => relative(ROOT, path)).join(', ');
  process.stdout.write(`\nOnce more, alone: ${names}\n`);
  const paths = files.map(({ path }) => path);
  const second = await runJest(['--maxWorkers=1', '--runTestsByPath', ...paths], scratch);
  if (!second.ok) return first;
  process.stdout.write(`Flaky, passed on the second try: ${names}\n`);
  const countedTwice = files.reduce((sum, { passed }) => sum + passed, 0);
  return { ...second, passed: first.passed + second.passed - countedTwice, skipped: first.skipped };
}

async function runJest(args, scratch) {
  const countsFile = join(scratch, 'counts.json');
  rmSync(countsFile, { force: true });
  const { ok, seconds } = await runCommand(
    'node',
    [
      '--no-warnings',
      join(ROOT, 'node_modules/jest/bin/jest.js'),
      ...args,
      // Last, because it would take the paths that follow it for further reporters.
      `--reporters=${join(ROOT, 'scripts/jest/quiet-reporter.mjs')}`,
    ],
    { show: true, env: { TMPDIR: scratch, TEST_COUNTS_FILE: countsFile } },
  );
  process.stdout.write(`${ok ? '✓' : '✗'} ${'tests'.padEnd(10)} ${seconds.toFixed(1)} s\n`);
  return { ok, ...readCounts(countsFile) };
}

/** Everything temporary of a run lies in one folder, which goes with it; one of a run that was killed goes now. */
function makeScratchFolder() {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(SCRATCH.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) remove(join(tmpdir(), name));
  }
  const scratch = mkdtempSync(join(tmpdir(), `model-gateway-tests-${process.pid}-`));
  // The user under which Postgres runs has to pass through.
  chmodSync(scratch, 0o711);
  process.once('exit', () => remove(scratch));
  return scratch;
}

function remove(folder) {
  try {
    // The stores may be about to end and still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  } catch {
    // The next run tries again.
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Jest ended before its report: that is a failure, whatever else it was.
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [] };
  }
}
