// Shows the progress of a run, everything about what fails and the slowest files; leaves the counts for the test command.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { clockText, startProgress } from '../progress.mjs';

const SLOWEST_FILES = 10;

export default class QuietReporter {
  #root;
  #startedAt = performance.now();
  #files = { done: 0, all: 0, failed: 0 };
  #durations = [];
  #failedFiles = [];
  #progress = startProgress(() => this.#describe());

  constructor(globalConfig) {
    this.#root = globalConfig.rootDir;
  }

  #describe() {
    const { done, all, failed } = this.#files;
    const time = clockText(performance.now() - this.#startedAt);
    return `${done} of ${all} test files (slow ones first), ${failed} failed, ${time}`;
  }

  onRunStart(results) {
    this.#files.all = results.numTotalTestSuites;
  }

  onTestResult(test, result) {
    this.#files.done += 1;
    this.#durations.push({
      file: relative(this.#root, test.path),
      ms: result.perfStats.end - result.perfStats.start,
    });
    const { failureMessage } = result;
    if (failureMessage === undefined || failureMessage === null || failureMessage === '') return;
    this.#files.failed += 1;
    this.#failedFiles.push({ path: test.path, passed: result.numPassingTests });
    const printed = (result.console ?? []).map(({ message }) => message).join('\n');
    this.#progress.write(
      `\n✗ ${relative(this.#root, test.path)}\n${failureMessage.trimEnd()}\n${printed === '' ? '' : `\n${printed}\n`}\n`,
    );
  }

  onRunComplete(_contexts, results) {
    this.#progress.stop();
    this.#printSlowest();
    const counts = {
      passed: results.numPassedTests,
      // A file that could not even be loaded is a failure without a test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failedFiles: this.#failedFiles,
    };
    if (process.env.TEST_COUNTS_FILE)
      writeFileSync(process.env.TEST_COUNTS_FILE, JSON.stringify(counts));
  }

  #printSlowest() {
    if (this.#durations.length <= SLOWEST_FILES) return;
    const slowest = this.#durations
      .toSorted((one, other) => other.ms - one.ms)
      .slice(0, SLOWEST_FILES)
      .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${file}`);
    process.stdout.write(`The slowest files:\n${slowest.join('\n')}\n`);
  }
}
