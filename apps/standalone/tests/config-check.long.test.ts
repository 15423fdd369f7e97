import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkConfigFile, readConfigFile, type ConfigEntry } from '@model-gateway/config-file';
import { createDatabase } from '@model-gateway/db';
import { createEntryRules } from '@model-gateway/service';
import { silentLog } from '@model-gateway/kernel';
import { RETRY_REASONS } from '@model-gateway/router';
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

/** Runs the program behind `pnpm gateway config:check` to its end. */
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

async function check(file: string, webhookAllowPrivate = false) {
  const printed: string[] = [];
  const code = await checkConfigFile([file], {
    environment,
    rules: createEntryRules({ webhookAllowPrivate }),
    readText: (path) => readFile(path, 'utf8'),
    print: (text) => void printed.push(text),
    withStores: () => Promise.reject(new Error('not needed')),
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
  { field: 'type', backend: 'type: no-such-type, url: "http://x"', says: 'type is unknown; use' },
  { field: 'url', backend: 'type: external, url: "ftp://x"', says: 'must start with one of http:' },
  { field: 'url', backend: 'type: engine, url: "http://x"', says: 'must start with one of ws://' },
  { field: 'url', backend: 'type: external, url: "http://me:secret@x"', says: 'credentials' },
  {
    field: 'url',
    backend: 'type: external, url: "bridge://node"',
    says: 'bridge://<node>/<service>',
  },
  {
    field: 'models',
    backend: 'type: azure, url: "https://x"',
    says: "a backend of the kind 'azure'",
  },
  {
    field: 'capabilities',
    backend: 'type: external, url: "http://x", capabilities: [video]',
    says: "does not support 'video'",
  },
  {
    field: 'auth_header',
    backend: 'type: ollama, url: "http://x", auth_header: api-key',
    says: "not 'local-server'",
  },
  {
    field: 'api_keys',
    backend: 'type: ollama, url: "http://x", api_keys: [a, b]',
    says: "not 'local-server'",
  },
  {
    field: 'api_keys',
    backend: 'type: external, url: "http://x", api_key: a, api_keys: [b]',
    says: "give it or 'api_key', not both",
  },
  {
    field: 'dialects',
    backend: 'type: gemini, url: "http://x", dialects: [responses]',
    says: "not 'gemini'",
  },
])('what a registration refuses is wrong: $backend', async ({ field, backend, says }) => {
  const file = join(folder.path, 'refused.yaml');
  const line = `  - { name: a, ${backend} }`;
  await writeFile(file, `backends:\n${line}\n`);
  const { code, printed } = await check(file);
  expect(printed).toEqual([expect.stringContaining(says)]);
  // A field that is missing has the place of its entry.
  const column = line.includes(`${field}: `) ? line.indexOf(`${field}: `) + 1 : 5;
  expect(printed.join()).toContain(`:2:${column} backends[0].${field} `);
  expect(code).toBe(1);
});

test.each([
  'http://127.0.0.1:9000/hook',
  'https://10.1.2.3/hook',
  'https://[::1]/hook',
  'http://localhost/hook',
  'https://hooks.localhost./hook',
])('a webhook at a private address is wrong, unless that is allowed: %s', async (url) => {
  const file = join(folder.path, 'private.yaml');
  await writeFile(file, `webhooks:\n  - events: [node.offline]\n    url: "${url}"\n`);
  expect(await check(file)).toEqual({
    code: 1,
    printed: [
      `${file}:3:5 webhooks[0].url leads to a private address; set SERVICE_WEBHOOK_ALLOW_PRIVATE=1 to allow that\n`,
    ],
  });
  expect(await check(file, true)).toMatchObject({ code: 0 });
});

test('a wrong file is named with line and field, and without its values', async () => {
  const file = join(folder.path, 'wrong.yaml');
  await writeFile(
    file,
    'backends:\n  - name: a\n    type: no-such-type\n    url: http://a\naliases:\n  - { alias: a, target: "${MISSING}" }\n',
  );
  expect(await run(file)).toEqual({
    code: 1,
    output: expect.stringMatching(
      /:3:5 backends\[0\]\.type is unknown; use one of external, (?:(?!no-such-type).)*\n.*:6:17 aliases\[0\]\.target needs the environment variable MISSING, which is not set\n$/,
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

test('--plan shows what differs in the installation although the file has not changed', async () => {
  const file = join(folder.path, 'drift.yaml');
  const text = `
routes:
  - { model: best, targets: [{ model: m }] }
  - { model: same, targets: [{ model: m }], cache: { ttl_secs: 60 } }
tiers:
  - { name: team, rpm: 5 }
  - { name: lab, rpm: 6 }
prices:
  - { pattern: m, input_per_million: 1, output_per_million: 2 }
  - { pattern: new, input_per_million: 1, output_per_million: 2 }
webhooks:
  - { url: "https://hooks.example.com/x", events: [node.offline] }
`;
  await writeFile(file, text);
  const { entries = [] } = readConfigFile(text, { environment: {} }) as {
    readonly entries?: readonly ConfigEntry[];
  };
  const stores = createDatabase({ databaseUrl: database.url, log: silentLog });
  for (const { section, name } of await stores.fileEntries.list())
    await stores.fileEntries.remove(section, name);
  for (const { section, name, hash } of entries)
    if (name !== 'new') await stores.fileEntries.put({ section, name, hash, target: null });
  const target = { model: 'm', priority: 0, weight: 1 };
  const rule = { targets: [target], attempts: 2, retryOn: RETRY_REASONS } as const;
  await stores.routeRules.set({ ...rule, model: 'best', strategy: 'weighted', attempts: 3 });
  await stores.routeRules.set({ ...rule, model: 'same', strategy: 'weighted', cacheTtlSecs: 60 });
  await stores.plans.saveTier('lab', { rpm: 6, monthlyUsdQuota: null, monthlyTokenQuota: null });
  for (const pattern of ['m', 'new'])
    await stores.prices.set({
      pattern,
      backend: null,
      inputPerMillion: 9,
      outputPerMillion: 2,
      cachedInputPerMillion: null,
      cacheWritePerMillion: null,
      audioInputPerMillion: null,
      audioOutputPerMillion: null,
      cachedAudioInputPerMillion: null,
      imageOutputPerMillion: null,
      perImage: null,
      perMinuteAudio: null,
      perRequest: null,
    });
  await stores.close();
  const { code, output } = await run(file, '--plan');
  expect(output.replace(/\(\w{8}\)/, '(…)').split('\n')).toEqual([
    '+ prices new (replaces what is installed)',
    '~ routes best (was changed since)',
    '~ tiers team (was removed since)',
    '~ prices m (was changed since)',
    '~ webhooks https://hooks.example.com (…) (was removed since)',
    '1 to add, 4 to change, 0 to remove, 2 unchanged',
    '',
  ]);
  expect(code).toBe(0);
});

test('without a file it says how it is used', async () => {
  expect(await run()).toEqual({
    code: 2,
    output: 'usage: pnpm gateway config:check <file.yaml> [--plan]\n',
  });
});
