import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@model-gateway/db';
import { checkConfigFile } from '@model-gateway/inference-runtime';
import { silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  temporaryDataDir,
  type TemporaryFolder,
  type TestDatabase,
} from '@model-gateway/testkit';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const EXAMPLES = join(ROOT, 'infra', 'config');

let folder: TemporaryFolder;
let database: TestDatabase;

beforeAll(async () => {
  [folder, database] = await Promise.all([temporaryDataDir(), createTestDatabase()]);
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

/** Runs the program behind `pnpm config:check` to its end. */
function run(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly output: string }> {
  const program = join(ROOT, 'apps', 'standalone', 'dist', 'config-check-main.js');
  const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url, TARGET: 'm' };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env, cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

/** What the examples expect in the environment. */
const environment = {
  OPENAI_API_KEY: 'one',
  OPENAI_API_KEY_2: 'two',
  ANTHROPIC_API_KEY: 'three',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/a/b',
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
};

test.each(readdirSync(EXAMPLES))('the example %s is right', async (name) => {
  const printed: string[] = [];
  const code = await checkConfigFile([join(EXAMPLES, name)], {
    environment,
    print: (text) => void printed.push(text),
    withStore: () => Promise.reject(new Error('not needed')),
  });
  expect(printed).toEqual([expect.stringMatching(/ is right: \d+ entries\n$/)]);
  expect(code).toBe(0);
});

test('a wrong file is named with line and field, and without its values', async () => {
  const file = join(folder.path, 'wrong.yaml');
  await writeFile(
    file,
    'backends:\n  - name: a\n    type: no-such-type\n    url: http://a\naliases:\n  - { alias: a, target: "${MISSING}" }\n',
  );
  expect(await run(file)).toEqual({
    code: 1,
    output: `${file}:6:17 aliases[0].target needs the environment variable MISSING, which is not set\n`,
  });
  await writeFile(file, 'backends:\n  - name: a\n    type: no-such-type\n    url: http://a\n');
  expect(await run(file)).toEqual({
    code: 1,
    output: expect.stringContaining(
      `${file}:2:5 backends[0] unknown backend type 'no-such-type'; use one of `,
    ),
  });
});

test('--plan shows what an apply would change', async () => {
  const file = join(folder.path, 'right.yaml');
  await writeFile(file, 'aliases:\n  - { alias: a, target: "${TARGET}" }\n');
  const stores = createDatabase({ databaseUrl: database.url, log: silentLog });
  await stores.fileEntries.put({ section: 'routes', name: 'old', hash: 'x', target: null });
  await stores.close();
  expect(await run(file, '--plan')).toEqual({
    code: 0,
    output: '+ aliases a\n- routes old\n1 to add, 0 to change, 1 to remove, 0 unchanged\n',
  });
});

test('without a file it says how it is used', async () => {
  expect(await run()).toEqual({
    code: 2,
    output: 'usage: pnpm config:check <file.yaml> [--plan]\n',
  });
});
