// `npm test`: installs what is needed, checks the code, builds it and runs the tests. `npm run test:long` runs what takes longer
// instead: the tests of whole installations, `*.long.test.ts`, the search for dead code and the check of licenses.
// `npm test -- <jest arguments>` runs only those tests. With TEST_FULL=1 tests that repeat themselves do so at full size.
import { ensureApiClients, ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { startChecks } from './check.mjs';
import { endChildrenOnSignal, fail } from './run-command.mjs';
import { runTests } from './run-tests.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

const jestArguments = process.argv.slice(2);
const isLong = process.env.TEST_LONG === '1';
endChildrenOnSignal();
await ensureToolchain();
await ensureSystemPackages({ isLong, paths: jestArguments });
if (isLong || jestArguments.some((argument) => argument.includes('api-clients')))
  await ensureApiClients();

let checks = { isBuilt: true, counted: Promise.resolve({ passed: 0, failed: [] }) };
if (jestArguments.length === 0) checks = await startChecks(isLong ? 'long' : 'short');
else await ensureBuilt();
if (!checks.isBuilt) {
  await checks.counted;
  fail('The build failed, so that no test could run.');
}

const [tests, counted] = await Promise.all([runTests(jestArguments), checks.counted]);
const passed = tests.passed + counted.passed;
const failed = tests.failed + counted.failed.length;
if (counted.failed.length > 0)
  process.stdout.write(`\nFailed checks: ${counted.failed.join(', ')} (see above)\n`);
if (tests.passed + tests.failed === 0) process.stdout.write('No test ran.\n');
const skipped = tests.skipped === 0 ? '' : `, ${tests.skipped} skipped`;
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped}\n`);
process.exitCode = tests.ok && failed === 0 && tests.passed > 0 ? 0 : 1;
