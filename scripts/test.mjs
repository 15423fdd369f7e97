// `npm test`: installs what is needed, checks the code, builds it and runs the tests. With TEST_LONG=1 (`npm run test:long`)
// also the long ones, `*.long.test.ts`, the search for dead code and the check of licenses; with TEST_FULL=1 all of them at full
// size. `npm test -- <jest arguments>` runs only those tests.
import { ensureApiClients, ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { startChecks } from './check.mjs';
import { runTests } from './jest/run-tests.mjs';
import { endChildrenOnSignal, fail } from './run-command.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

const jestArguments = process.argv.slice(2);
const isWhole = ['TEST_LONG', 'TEST_FULL'].some((name) => process.env[name] === '1');
endChildrenOnSignal();
await ensureToolchain();
await ensureSystemPackages({ isWhole, paths: jestArguments });
if (isWhole || jestArguments.some((argument) => argument.includes('api-clients')))
  await ensureApiClients();

let checks = { isBuilt: true, counted: Promise.resolve({ passed: 0, failed: [] }) };
if (jestArguments.length === 0) checks = await startChecks({ isWhole });
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
