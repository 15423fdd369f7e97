import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('check-layers.mjs', import.meta.url));

/** A small repository that keeps every rule. */
const REPOSITORY: Readonly<Record<string, string>> = {
  'packages/kernel/src/index.ts': "export { now } from './clock.ts';",
  'packages/kernel/src/clock.ts': 'export const now = 1;',
  'packages/billing/src/index.ts': "export { now as price } from '../../kernel/src/index.ts';",
  'packages/router/src/index.ts': 'export interface Route { id: string }',
  'packages/inference/src/index.ts': "export { price } from '../../billing/src/index.ts';",
  'packages/db/src/index.ts': "export type { Route } from '../../router/src/index.ts';",
  'packages/bus/src/index.ts': 'export const bus = 1;',
  'packages/testkit/src/index.ts': "export { bus } from '../../bus/src/index.ts';",
  'packages/demo-model/src/index.ts': 'export const demo = 1;',
  'apps/gateway/src/app.ts': "export { bus } from '../../../packages/bus/src/index.ts';",
  'apps/gateway/src/config.ts': 'export const config = 1;',
  'apps/gateway/src/app.test.ts':
    "import '../../../packages/testkit/src/index.ts'; import './app.ts';",
  'apps/rpc/src/app.ts': 'export const rpc = 1;',
  'apps/standalone/src/main.ts':
    "import '../../gateway/src/app.ts'; import '../../../packages/demo-model/src/index.ts';",
};

async function check(files: Readonly<Record<string, string>>, modulesMin = 10): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'layers-'));
  try {
    for (const [file, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), content);
    }
    const { stdout } = await run(process.execPath, [SCRIPT, folder, String(modulesMin)]).catch(
      (failure: { readonly stdout: string }) => failure,
    );
    return stdout.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a repository that keeps the rules passes', async () => {
  expect(await check(REPOSITORY)).toBe('');
});

test('a graph that is too small fails', async () => {
  expect(await check(REPOSITORY, 1000)).toMatch(
    /^only \d+ modules were found, at least 1000 were expected$/,
  );
});

const FORBIDDEN: readonly { rule: string; folder: string; imports: string }[] = [
  {
    rule: 'kernel-imports-nothing',
    folder: 'packages/kernel',
    imports: '../../router/src/index.ts',
  },
  { rule: 'pure-packages', folder: 'packages/billing', imports: '../../router/src/index.ts' },
  { rule: 'domain-without-io', folder: 'packages/billing', imports: 'node:fs' },
  {
    rule: 'gpu-agent-packages',
    folder: 'apps/gpu-agent',
    imports: '../../../packages/bus/src/index.ts',
  },
  { rule: 'turn-packages', folder: 'packages/inference', imports: '../../db/src/index.ts' },
  { rule: 'adapters', folder: 'packages/db', imports: '../../bus/src/index.ts' },
  {
    rule: 'package-entries',
    folder: 'apps/gateway',
    imports: '../../../packages/kernel/src/clock.ts',
  },
  { rule: 'no-imports-between-apps', folder: 'apps/gateway', imports: '../../rpc/src/app.ts' },
  { rule: 'app-entries', folder: 'apps/standalone', imports: '../../gateway/src/config.ts' },
  {
    rule: 'packages-import-no-app',
    folder: 'packages/server-process',
    imports: '../../../apps/rpc/src/app.ts',
  },
  {
    rule: 'testkit-is-for-tests',
    folder: 'apps/standalone',
    imports: '../../../packages/testkit/src/index.ts',
  },
  { rule: 'demo-model', folder: 'packages/demo-model', imports: '../../bus/src/index.ts' },
  { rule: 'no-cycles', folder: 'packages/bus', imports: './no-cycles.ts' },
  { rule: 'everything-resolves', folder: 'packages/bus', imports: './nowhere.ts' },
];

const fileOf = ({ rule, folder }: { readonly rule: string; readonly folder: string }): string =>
  `${folder}/src/${rule}.ts`;

const TYPES_AND_EXPORTS = {
  'packages/billing/src/types.ts': "import type { Route } from '../../router/src/index.ts';",
  'packages/billing/src/exports.ts': "export * from '../../router/src/index.ts';",
};

test('each forbidden import is reported by the name of its rule, also of types and in re-exports', async () => {
  const bad = FORBIDDEN.map((entry) => [fileOf(entry), `import '${entry.imports}';`] as const);
  const report = await check({ ...REPOSITORY, ...TYPES_AND_EXPORTS, ...Object.fromEntries(bad) });
  for (const entry of FORBIDDEN) expect(report).toContain(`${entry.rule}: ${fileOf(entry)} → `);
  for (const file of Object.keys(TYPES_AND_EXPORTS))
    expect(report).toContain(`pure-packages: ${file} → `);
});
