// Runs the slowest test files first, so that no core is idle while the last one runs. Jest's own order needs the times of
// an earlier run, which a fresh clone does not have.
import { statSync } from 'node:fs';
import { relative } from 'node:path';

/** The files that take longest on two cores, the slowest first. */
export const SLOW_FILES = [
  'apps/browser-tool/tests/console/console-pages.long.test.ts',
  'infra/tests/deployment.long.test.ts',
  'apps/browser-tool/tests/processes.long.test.ts',
  'apps/standalone/tests/docs/commands.long.test.ts',
  'apps/agent-tunnel/tests/processes.long.test.ts',
  'apps/cli/tests/commands.long.test.ts',
  'apps/standalone/tests/stop-and-start.long.test.ts',
  'packages/browser-ffi/tests/ffi-engine.long.test.ts',
  'apps/gateway/tests/money/money-crashes.test.ts',
  'apps/browser-tool/tests/commands/pending-navigation.test.ts',
  'packages/bus/tests/contract.test.ts',
  'apps/browser-tool/tests/resolve/build.long.test.ts',
  'apps/standalone/tests/npm-package.long.test.ts',
  'apps/gateway/tests/money/money-conservation.test.ts',
  'apps/gateway/tests/records/wire.test.ts',
  'apps/standalone/tests/records/ledger.test.ts',
  'apps/standalone/tests/records/sums.test.ts',
  'tools/fuzz/tests/short.test.ts',
  'packages/browser-ffi/tests/ffi-tool.test.ts',
  'apps/standalone/tests/large-bodies.long.test.ts',
  'infra/tests/start.long.test.ts',
  'infra/tests/monitoring/installation.long.test.ts',
  'infra/tests/monitoring/tracing.long.test.ts',
  'apps/standalone/tests/watchdog.test.ts',
  'apps/gpu-agent/tests/daemon.test.ts',
  'apps/rpc/tests/transports/two-processes.long.test.ts',
  'apps/gateway/tests/routing/router-processes.test.ts',
  'apps/gateway/tests/routing/router-without-redis.test.ts',
  'apps/video-worker/tests/video-redis-restart.test.ts',
  'apps/video-worker/tests/video-crashes.test.ts',
  'apps/browser-tool/tests/commands/actions.test.ts',
  'apps/browser-tool/tests/recovery.test.ts',
];

export default class SlowFirst {
  sort(tests) {
    const rankOf = ({ path, context }) => {
      const index = SLOW_FILES.indexOf(relative(context.config.rootDir, path));
      return index === -1 ? SLOW_FILES.length : index;
    };
    return [...tests]
      .map((test) => ({ test, rank: rankOf(test), bytes: statSync(test.path).size }))
      .toSorted((one, other) => one.rank - other.rank || other.bytes - one.bytes)
      .map(({ test }) => test);
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {
    // The order does not depend on earlier runs.
  }
}
