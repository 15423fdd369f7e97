import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProcess } from '@model-gateway/testkit';
import { temporaryDataDir, type TemporaryFolder, watchForSecrets } from '@model-gateway/testkit';
import { startChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { chat, chatOnce, processesOf, startStandalone } from './standalone.ts';

watchForSecrets();

const run = promisify(execFile);
let folder: TemporaryFolder;
let standalone: TestProcess;

beforeAll(async () => {
  folder = await temporaryDataDir();
  standalone = await startStandalone(folder.path, { SERVICE_PROT: '9000' });
});
afterAll(async () => {
  await standalone.stop();
  await folder.remove();
});

test('the banner names the console, the base URL, the docs, and where the admin token is kept', () => {
  const output = standalone.output();
  expect(output).toContain(`Model Gateway is up.\n  ${standalone.url}/console/\n`);
  expect(output).toContain(`Base URL     ${standalone.url}`);
  expect(output).toContain(`API docs     ${standalone.url}/docs`);
  expect(output).toContain(`Admin token  kept in ${join(folder.path, 'secrets', 'admin-token')}`);
});

test('the first start says what takes its time', () => {
  expect(standalone.output()).toContain(
    'setting up the embedded Postgres, which takes some seconds',
  );
});

test('a setting that is mistyped is named, with the one that is probably meant', () => {
  const warning = standalone.output().match(/.*there is no setting of this name.*/g);
  expect(warning).toEqual([
    expect.stringMatching(/"name":"SERVICE_PROT","remedy":"use SERVICE_PORT"/),
  ]);
});

test('the two commands of the banner sign in and chat, and can be repeated; those of the next start sign in too', async () => {
  expect((await firstChat()).stderr).toContain('admin, on the tier enterprise.');
  expect((await firstChat()).stderr).not.toContain('Created');
  await standalone.stop();
  standalone = await startStandalone(folder.path);
  expect(standalone.output()).not.toContain('--register');
  expect((await firstChat()).stderr).not.toContain('Created');
});

async function firstChat(): Promise<{ readonly stderr: string }> {
  const lines = standalone.output().split('\n');
  const first = lines.findIndex((line) => line.includes(' login '));
  const env = { PATH: process.env['PATH'], HOME: folder.path };
  const commands = lines.slice(first, first + 2).join(' && ');
  const { stdout, stderr } = await run('bash', ['-c', commands], { env });
  expect(stdout).toContain('You wrote: "Hello!".');
  expect(stderr).toContain('cost: the model has no price');
  return { stderr };
}

test('the demo models are listed while no backend is registered, and answer afterwards too', async () => {
  const { url } = standalone;
  const { key } = await chatOnce(url, 'models@example.com');
  const adminToken = await readFile(join(folder.path, 'secrets', 'admin-token'), 'utf8');
  const headers = { authorization: `Bearer ${key}` };
  const isListed = async (): Promise<boolean> =>
    (await (await fetch(`${url}/v1/models`, { headers })).text()).includes('"demo-chat"');
  const retrieved = async (): Promise<unknown> =>
    (await fetch(`${url}/v1/models/demo-chat`, { headers })).json();
  const backends = (method: string, body?: unknown): Promise<Response> =>
    fetch(`${url}/api/admin/backends`, {
      method,
      headers: { authorization: `Bearer ${adminToken.trim()}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const capabilities = expect.arrayContaining(['chat', 'completions', 'embeddings', 'rerank']);
  const demo = { id: 'demo-chat', owned_by: 'demo', capabilities };
  expect(await retrieved()).toMatchObject(demo);
  expect(await isListed()).toBe(true);
  const embed = (model: string): Promise<Response> =>
    fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model, input: 'x' }),
    });
  const embedder = await fetch(`${url}/v1/models/demo-embed`, { headers });
  expect(await embedder.json()).toMatchObject({ owned_by: 'demo', capabilities: ['embeddings'] });
  expect((await embed('demo-embed')).status).toBe(200);
  expect((await embed('demo-chat')).status).toBe(200);
  expect(await (await embed('demo-reasoner')).json()).toMatchObject({
    error: { code: 'backend_error' },
  });
  const upstream = await startChatUpstream({ models: ['mine'] });
  try {
    const registered = await backends('POST', {
      type: 'external',
      name: 'mine',
      url: upstream.url,
    });
    expect(await registered.json()).toMatchObject({ index: 0 });
    expect(await isListed()).toBe(false);
    expect(await retrieved()).toMatchObject(demo);
    expect((await chat(url, key)).status).toBe(200);
    expect(await (await backends('GET')).json()).toMatchObject({
      backends: { count: 1, health: [{ name: 'mine' }] },
      models: ['mine'],
    });
    expect(await (await backends('DELETE', { index: 0 })).json()).toMatchObject({ status: 'ok' });
    expect(await isListed()).toBe(true);
  } finally {
    await upstream.close();
  }
});

test('the official client calls a tool of the demo model, streamed, and gets an answer from its result', async () => {
  const { key } = await chatOnce(standalone.url, 'tools@example.com');
  const client = new OpenAI({ apiKey: key, baseURL: `${standalone.url}/v1`, maxRetries: 0 });
  const asked: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Get the weather of a city',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          },
          parse: JSON.parse,
          function: (given: unknown) => {
            asked.push(given);
            return '18 degrees and sunny';
          },
        },
      },
    ],
  });
  expect(await runner.finalContent()).toContain('"18 degrees and sunny"');
  expect(asked).toEqual([{ city: 'Paris' }]);
});

test('the demo backend is routed and metered, but not counted', async () => {
  const health = await (await fetch(`${standalone.url}/v1/health`)).json();
  expect(health).toMatchObject({
    status: 'ok',
    models: 0,
    providers: [],
    checks: { postgres: 'ok', redis: 'ok' },
  });
});

test('every metric that the operations page lists is exposed, but those of a Redis, which is not configured', async () => {
  const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'operations.md');
  const described = [...(await readFile(page, 'utf8')).matchAll(/^\| `(service_\w+)` .*$/gm)];
  const names = described
    .filter(([row]) => !row.includes('absent where no Redis is configured'))
    .map(([, name]) => name);
  expect(names.length).toBeGreaterThan(20);
  const exposed = await (await fetch(`${standalone.url}/metrics`)).text();
  expect(names.filter((name) => !exposed.includes(`# TYPE ${name} `))).toEqual([]);
});

test('secrets are in files that only their owner can read, and none was printed without a terminal', async () => {
  const { stdout } = await run('ls', [join(folder.path, 'secrets')]);
  const names = stdout.trim().split('\n');
  expect(names).toEqual(expect.arrayContaining(['admin-token', 'encryption-key', 'jwt-secret']));
  const printed: string[] = [];
  for (const name of names) {
    const file = join(folder.path, 'secrets', name);
    expect((await stat(file)).mode & 0o077).toBe(0);
    const { stdout: secret } = await run('cat', [file]);
    if (standalone.output().includes(secret.trim())) printed.push(name);
  }
  expect(printed).toEqual([]);
});

test('no command line of a process contains a secret', async () => {
  const { stdout } = await run('cat', [join(folder.path, 'secrets', 'admin-token')]);
  const { stdout: processes } = await run('ps', ['-eo', 'args']);
  expect(processes).not.toContain(stdout.trim());
  expect(await processesOf(folder.path)).not.toEqual([]);
});
