// Says nothing about what passes and everything about what fails; leaves the counts for the test command.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class QuietReporter {
  #root;

  constructor(globalConfig) {
    this.#root = globalConfig.rootDir;
  }

  onTestResult(test, result) {
    if (
      result.failureMessage === undefined ||
      result.failureMessage === null ||
      result.failureMessage === ''
    )
      return;
    const printed = (result.console ?? []).map(({ message }) => message).join('\n');
    process.stdout.write(
      `\n✗ ${relative(this.#root, test.path)}\n${result.failureMessage.trimEnd()}\n${printed === '' ? '' : `\n${printed}\n`}\n`,
    );
  }

  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      // A file that could not even be loaded is a failure without a test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      files: results.testResults
        .filter(({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError)
        .map(({ testFilePath }) => relative(this.#root, testFilePath)),
    };
    if (process.env.TEST_COUNTS_FILE)
      writeFileSync(process.env.TEST_COUNTS_FILE, JSON.stringify(counts));
  }
}
