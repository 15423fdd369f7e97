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

async function check(file: string) {
  const printed: string[] = [];
  const code = await checkConfigFile([file], {
    environment,
    print: (text) => void printed.push(text),
    withStore: () => Promise.reject(new Error('not needed')),
  });
  return { code, printed };
}

test.each(readdirSync(EXAMPLES))('the example %s is right', async (name) => {
  expect(await check(join(EXAMPLES, name))).toEqual({
    code: 0,
    printed: [expect.stringMatching(/ is right: \d+ entries\n$/)],
  });
});

test.each([
  { backend: 'type: external, url: "ftp://x"', says: 'must start with one of http://' },
  { backend: 'type: engine, url: "http://x"', says: 'must start with one of ws://' },
  { backend: 'type: external, url: "http://me:secret@x"', says: 'must not carry credentials' },
  { backend: 'type: external, url: "bridge://node"', says: 'bridge://<node>/<service>' },
  { backend: 'type: azure, url: "https://x"', says: "'models': a backend of the kind 'azure'" },
  { backend: 'type: external, url: "http://x", capabilities: [video]', says: "'capabilities'" },
  { backend: 'type: ollama, url: "http://x", auth_header: api-key', says: "'auth_header'" },
  { backend: 'type: ollama, url: "http://x", api_keys: [a, b]', says: "'api_keys'" },
  { backend: 'type: gemini, url: "http://x", dialects: [responses]', says: "'dialects'" },
])('what a registration refuses is wrong: $backend', async ({ backend, says }) => {
  const file = join(folder.path, 'refused.yaml');
  await writeFile(file, `backends:\n  - { name: a, ${backend} }\n`);
  const { code, printed } = await check(file);
  expect(printed).toEqual([expect.stringContaining(says)]);
  expect(printed.join()).toContain(':2:5 backends[0] ');
  expect(code).toBe(1);
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
