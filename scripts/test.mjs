// `npm test`: installs what is needed, checks the code, builds it and runs every test.
// `npm test -- <jest arguments>` runs only those tests.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { runChecks } from './check.mjs';
import { runTests } from './jest/run-tests.mjs';
import { endChildrenOnSignal, fail } from './run-command.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

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
