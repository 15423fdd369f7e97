// Runs jest for the test command.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT, runCommand } from './run-command.mjs';

/** A machine that is busy makes a few files fail; more than these are a fault that a second try would only hide. */
const SECOND_TRIES = 3;

/**
 * Runs the tests that the arguments choose and returns `{ ok, passed, failed, skipped }`. In a run of everything, up to three
 * files that failed are run once more, alone, and are named when they pass then.
 */
export async function runTests(args) {
  // Everything temporary of a run is in one folder. The user under which Postgres runs has to pass through.
  const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-tests-'));
  chmodSync(scratch, 0o711);
  // The stores may be about to end and still write.
  const remove = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 10 });
  process.once('exit', remove);

  const first = await runJest(args, scratch);
  const files = first.failedFiles;
  if (first.ok || args.length > 0 || files.length === 0 || files.length > SECOND_TRIES)
    return first;

  const paths = files.map(({ name }) => name);
  const names = paths.map((path) => relative(ROOT, path)).join(', ');
  process.stdout.write(`\nOnce more, alone: ${names}\n`);
  const second = await runJest(['--maxWorkers=1', '--runTestsByPath', ...paths], scratch);
  if (!second.ok) return first;
  process.stdout.write(`Flaky, passed on the second try: ${names}\n`);
  const passedTwice = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed').length;
  return { ...second, passed: first.passed + second.passed - passedTwice, skipped: first.skipped };
}

async function runJest(args, scratch) {
  const report = join(scratch, 'report.json');
  rmSync(report, { force: true });
  const { ok } = await runCommand(
    'node',
    ['node_modules/jest/bin/jest.js', ...args, '--json', `--outputFile=${report}`],
    { show: true, env: { TMPDIR: scratch } },
  );
  return { ok, ...countsIn(report) };
}

function countsIn(report) {
  try {
    const results = JSON.parse(readFileSync(report, 'utf8'));
    return {
      passed: results.numPassedTests,
      // A file that could not even be loaded is a failure without a test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failedFiles: results.testResults.filter(({ status }) => status === 'failed'),
    };
  } catch {
    // Jest ended before its report: that is a failure, whatever else it was.
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [] };
  }
}
