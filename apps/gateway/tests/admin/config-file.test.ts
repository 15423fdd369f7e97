import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  temporaryDataDir,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { backendsOf, createGatewayProcesses, type GatewayProcesses } from '../gateway-processes.ts';
import { admin } from '../gateway.ts';

const APPLIED = 'the configuration file is applied';

let folder: TemporaryFolder;
let upstream: RunningChatUpstream;
let gateways: GatewayProcesses;
let left: TestProcess;
let right: TestProcess;

const file = (): string => join(folder.path, 'gateway.yaml');
const backend = (name: string): string =>
  `  - { name: ${name}, type: external, url: "${upstream.url}", api_key: "\${UPSTREAM_KEY}" }\n`;
const aliases = (...names: readonly string[]): string =>
  names.map((name) => `  - { alias: ${name}, target: m }\n`).join('');
const write = (content: string): Promise<void> => writeFile(file(), content);

const FIRST = (): string =>
  `backends:\n${backend('gpu')}${backend('spare')}aliases:\n${aliases('fast', 'small')}`;

const namesOn = async (gateway: TestProcess): Promise<readonly string[]> =>
  (await backendsOf(gateway)).map(({ name }) => name);
const linesOf = (gateway: TestProcess, text: string): readonly string[] =>
  gateway
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

async function aliasesOn(gateway: TestProcess): Promise<unknown> {
  return (await admin(gateway, 'GET', 'aliases')).json();
}

beforeAll(async () => {
  folder = await temporaryDataDir();
  upstream = await startChatUpstream({ models: ['m'] });
  await write(FIRST());
  gateways = await createGatewayProcesses({
    SERVICE_CONFIG: file(),
    UPSTREAM_KEY: 'the key of the upstream',
  });
  [left, right] = await Promise.all([gateways.start(), gateways.start()]);
});
afterAll(async () => {
  await gateways.close();
  await upstream.close();
  await folder.remove();
});

test('of two processes that start with one file, one applies it and both serve it', async () => {
  const summaries = [left, right].map((gateway) => linesOf(gateway, APPLIED).join());
  expect(summaries.filter((line) => line.includes('4 to add'))).toHaveLength(1);
  expect(summaries.filter((line) => line.includes('0 to add'))).toHaveLength(1);
  for (const gateway of [left, right]) {
    await waitUntil(async () => (await namesOn(gateway)).join() === 'gpu,spare', {
      what: 'the backends of the file',
    });
    await waitUntil(async () => (await gateways.chat(gateway, 'fast')).status === 200, {
      what: 'an answer to an alias of the file',
    });
  }
});

test('lists mark what comes from the file', async () => {
  await admin(left, 'POST', 'aliases', { alias: 'own', target: 'm' });
  expect(await aliasesOn(left)).toEqual({
    aliases: [
      { alias: 'fast', target: 'm', source: 'file' },
      { alias: 'own', target: 'm' },
      { alias: 'small', target: 'm', source: 'file' },
    ],
  });
  expect(await backendsOf(right)).toMatchObject([
    { name: 'gpu', source: 'file' },
    { name: 'spare', source: 'file' },
  ]);
});

test.each([
  {
    method: 'POST',
    resource: 'backends',
    body: { name: 'gpu', type: 'external', url: 'http://x' },
  },
  { method: 'DELETE', resource: 'backends', body: { index: 0 } },
  { method: 'PUT', resource: 'backends/by-name/gpu', body: { type: 'external', url: 'http://x' } },
  { method: 'PATCH', resource: 'backends/by-name/gpu', body: { models: ['n'] } },
  { method: 'DELETE', resource: 'backends/by-name/gpu', body: undefined },
  { method: 'POST', resource: 'aliases', body: { alias: 'fast', target: 'n' } },
  { method: 'DELETE', resource: 'aliases', body: { alias: 'fast' } },
])('$method $resource does not change what comes from the file', async (request) => {
  const response = await admin(right, request.method, request.resource, request.body);
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({
    error: {
      code: 'in_configuration_file',
      message: expect.stringContaining('comes from the section'),
    },
  });
});

test('after SIGHUP what left the file has left every process, and what is new serves', async () => {
  await write(`backends:\n${backend('gpu')}${backend('third')}aliases:\n${aliases('fast', 'new')}`);
  left.signal('SIGHUP');
  for (const gateway of [left, right]) {
    await waitUntil(async () => (await namesOn(gateway)).join() === 'gpu,third', {
      what: 'the backends of the changed file',
    });
    await waitUntil(async () => (await gateways.chat(gateway, 'new')).status === 200, {
      what: 'an answer to the new alias',
    });
    await waitUntil(async () => (await gateways.chat(gateway, 'small')).status === 404, {
      what: 'the end of the alias that left the file',
    });
  }
  expect(linesOf(left, APPLIED).at(-1)).toContain('2 to add, 0 to change, 2 to remove');
});

test('a file that is wrong at SIGHUP is logged, and everything stays as it was', async () => {
  await write(`backends:\n${backend('gpu')}  - name: broken\n    type: external\n`);
  left.signal('SIGHUP');
  await waitUntil(() => linesOf(left, 'the configuration file was not applied').length > 0, {
    what: 'the line about the wrong file',
  });
  expect(linesOf(left, 'the configuration file was not applied').join()).toContain(
    '3:5 backends[1].url',
  );
  expect(await namesOn(left)).toEqual(['gpu', 'third']);
  expect((await gateways.chat(left, 'new')).status).toBe(200);
});

test('a process does not start with a file that is wrong, and says which line and field', async () => {
  await expect(gateways.start()).rejects.toThrow(
    /ended with status 1.*is wrong: 3:5 backends\[1\]\.url .*; correct these lines and start again/s,
  );
});

test('the aliases of the file survive a restart of all processes, unlike others', async () => {
  await write(FIRST());
  await Promise.all([left.stop(), right.stop()]);
  left = await gateways.start();
  expect(await aliasesOn(left)).toEqual({
    aliases: [
      { alias: 'fast', target: 'm', source: 'file' },
      { alias: 'small', target: 'm', source: 'file' },
    ],
  });
});

test('the JSON Schema of the file is served', async () => {
  const schema = await (await fetch(`${left.url}/config.schema.json`)).json();
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(Object.keys((schema as { properties: object }).properties)).toEqual([
    'backends',
    'aliases',
    'routes',
    'tiers',
    'prices',
    'webhooks',
  ]);
});
