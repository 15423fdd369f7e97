// `npm test`: sets up all that is needed, checks the code, builds it and runs every test.
// `npm test -- <jest arguments>` runs only those tests.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { runChecks } from './check.mjs';
import { endChildrenOnSignal, fail, ROOT, runCommand } from './run-command.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

const SCRATCH = /^model-gateway-tests-(\d+)-/;

const jestArguments = process.argv.slice(2);
endChildrenOnSignal();
await ensureToolchain();
await ensureSystemPackages();

const counts = { passed: 0, failed: 0, skipped: 0 };
let isBuilt = true;
if (jestArguments.length === 0) {
  const checks = await runChecks();
  counts.passed += checks.passed;
  counts.failed += checks.failed;
  isBuilt = checks.isBuilt;
} else {
  await ensureBuilt();
}
if (!isBuilt) fail('The build failed, so that no test could run.');

const tests = await runTests(jestArguments);
counts.passed += tests.passed;
counts.failed += tests.failed;
counts.skipped += tests.skipped;
if (tests.passed + tests.failed === 0) process.stdout.write('No test ran.\n');
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
process.exitCode = tests.ok && counts.failed === 0 && tests.passed > 0 ? 0 : 1;

async function runTests(args) {
  const scratch = makeScratchFolder();
  const countsFile = join(scratch, 'counts.json');
  const { ok, seconds } = await runCommand(
    'node',
    [
      '--experimental-vm-modules',
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
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
