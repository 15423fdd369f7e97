import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFile } from 'node:child_process';
import { createSecretWatch, watchedFetch } from './secret-watch.mjs';

const KEY = 'service-0123456789abcdef';

interface Exchange {
  readonly status?: number;
  readonly request?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly response: object;
  readonly setCookie?: string;
}

/** What is found after these exchanges, each with the body of its response. */
async function found(...exchanges: readonly Exchange[]): Promise<readonly string[]> {
  const watch = createSecretWatch();
  for (const { status = 200, request, headers = {}, response, setCookie } of exchanges) {
    const fake = async () => {
      const answer = Response.json(response, { status });
      Object.defineProperty(answer, 'url', { value: 'http://127.0.0.1/v1/keys?x=1' });
      answer.headers.set('content-length', '100');
      if (setCookie !== undefined) answer.headers.set('set-cookie', setCookie);
      return answer;
    };
    const options = {
      headers,
      ...(request === undefined ? {} : { body: JSON.stringify(request) }),
    };
    const watched = watchedFetch(fake, watch) as typeof fetch;
    await (await watched('http://127.0.0.1/', options)).text();
    await new Promise(setImmediate);
  }
  return watch.takeFindings() as readonly string[];
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('a secret of a response that a later error quotes is found, and not told', async () => {
  const findings = await found(
    { response: { result: { key: KEY } } },
    { status: 400, response: { error: { message: `no such key: ${KEY}!` } } },
  );
  expect(findings).toEqual(['key in 400 of /v1/keys']);
  expect(findings.join()).not.toContain(KEY);
});

test.each([
  { kind: 'password', exchange: { request: { params: { password: KEY } }, response: {} } },
  { kind: 'current', exchange: { request: { params: { current: KEY } }, response: {} } },
  { kind: 'next', exchange: { request: { params: { next: KEY } }, response: {} } },
  { kind: 'api_keys', exchange: { request: { api_keys: ['ollama', KEY] }, response: {} } },
  { kind: 'bearer', exchange: { ...bearer(KEY), response: {} } },
  { kind: 'x-api-key', exchange: { headers: { 'X-Api-Key': KEY }, response: {} } },
  { kind: 'api-key', exchange: { headers: { 'api-key': KEY }, response: {} } },
  { kind: 'cookie', exchange: { headers: { cookie: `a=1; b=${KEY}` }, response: {} } },
  { kind: 'cookie', exchange: { setCookie: `b=${KEY}; HttpOnly; Path=/`, response: {} } },
])('so is a $kind of an exchange', async ({ kind, exchange }) => {
  expect(await found(exchange, { response: { error: { data: [KEY] } } })).toEqual([
    `${kind} in 200 of /v1/keys`,
  ]);
});

test('a secret in a log is found, also among many others and before it is known', () => {
  const watch = createSecretWatch();
  watch.text('the output of rpc', `{"message":"${KEY}"}`);
  for (let count = 0; count < 2_000; count += 1) watch.secret('key', `service-${count}-abcdefgh`);
  watch.secret('jwt secret', KEY);
  expect(watch.takeFindings()).toEqual(['jwt secret in the output of rpc']);
  expect(watch.takeFindings()).toEqual([]);
});

test('neither answers, nor refused secrets, nor dummies are findings', async () => {
  expect(
    await found(
      { response: { key: KEY } },
      { ...bearer(KEY), response: { key: KEY } },
      { ...bearer('service-of-somebody-else'), status: 401, response: { error: 'unauthorized' } },
      { status: 401, response: { error: 'service-of-somebody-else' } },
      { request: { api_key: 'ollama' }, response: {} },
      { status: 400, response: { error: 'ollama' } },
    ),
  ).toEqual([]);
});

test.each([
  { text: `"the key is ${KEY}"`, status: 1 },
  { text: '"the key is [removed]"', status: 0 },
])('a test file that logs $text ends with $status', async ({ text, status }) => {
  const project = resolve(import.meta.dirname, '../..');
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  try {
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(
      join(folder, 'planted.test.ts'),
      `test('logs', () => {
        globalThis.testSecrets.secret('key', '${KEY}');
        globalThis.testSecrets.text('a log', ${text});
      });`,
    );
    const config = {
      rootDir: folder,
      testMatch: ['**/planted.test.ts'],
      runtime: join(project, 'scripts/jest/native-runtime.mjs'),
      testEnvironment: join(project, 'scripts/jest/native-environment.mjs'),
      transform: {},
    };
    const jest = join(project, 'node_modules/jest/bin/jest.js');
    const args = ['--no-warnings', jest, '-i', '--config', JSON.stringify(config)];
    const ended = await new Promise<{ readonly status: unknown; readonly output: string }>(
      (settle) => {
        execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) => {
          settle({ status: error?.code ?? 0, output: stdout + stderr });
        });
      },
    );
    expect(ended.output).toContain(status === 0 ? '1 passed' : 'key in a log');
    expect(ended.status).toBe(status);
    expect(ended.output).not.toContain(KEY);
  } finally {
    await rm(folder, { recursive: true });
  }
});
