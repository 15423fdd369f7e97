import { availableParallelism } from 'node:os';

// One configuration for every test of the repository. Tests read the sources, never a build; only processes that a test
// starts are builds.
const hasPaths = process.argv.slice(2).some((argument) => !argument.startsWith('-'));
const isLong = ['TEST_LONG', 'TEST_FULL'].some((name) => process.env[name] === '1');

export default {
  testMatch: ['<rootDir>/{apps,packages,scripts,tools,infra}/**/*.test.ts'],
  // Those that start whole installations are long, and run in every build of continuous integration.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    ...(isLong || hasPaths ? [] : ['\\.long\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['/dist/'],
  // Not in the folder for temporary files, which is a new one for every run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  runtime: '<rootDir>/scripts/jest/native-runtime.mjs',
  testEnvironment: '<rootDir>/scripts/jest/native-environment.mjs',
  transform: {},
  globalSetup: '<rootDir>/scripts/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/scripts/jest/global-teardown.mjs',
  testSequencer: '<rootDir>/scripts/jest/slow-first.mjs',
  // Most tests wait for stores and sockets rather than for a core.
  maxWorkers: Math.min(12, availableParallelism() + 3),
  // A worker keeps memory of every file that it ran; between two files one above this is replaced.
  workerIdleMemoryLimit: '700MB',
  // The end of a worker, with its memory and threads, takes more than jest's half second on a busy machine. One that a leaked
  // handle keeps alive is still reported.
  workerGracefulExitTimeout: 30_000,
  // A loaded machine is slow and not wrong; this only ends what hangs.
  testTimeout: process.env.TEST_FULL === '1' ? 1_800_000 : 300_000,
};
