import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '@model-gateway/kernel';
import { startEngine, type RunningEngine } from '@model-gateway/testkit/upstreams';
import { startScriptedAnswers, type ScriptedAnswers } from './scripted-answers.ts';
import { fields, list } from './json-text.ts';
import { LARGE_ANSWERS, REFUSAL_BYTES_MAX, type LargeAnswer } from './large-answers.ts';
import { chatOnce, startStandalone } from './standalone.ts';
import {
  fullSize,
  fullTable,
  fullTest,
  preparedDataDir,
  rpcCall,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';

/** In CPU time; the rule is 200 ms, and a machine that is busy with other things has slower caches. */
const BUSY_MS_MAX = 300;
/** A garbage collection, or a busy host of this machine, adds to a round; a shape that blocks does so in each. */
const ROUNDS_MAX = 3;
const HEALTH_INTERVAL_MS = 50;
const HEALTH_LATE_MS = 500;
const ERROR_BYTES_MAX = 16 * 1024;
const ADMIN_TOKEN = 'the admin token of the tests';
const UNLIMITED = { monthly_usd_quota: null, monthly_token_quota: null, rpm: null };

/** A process with little memory. */
let standalone: TestProcess;
let upstream: ScriptedAnswers;
let engine: RunningEngine;
let meterUrl: string;
let credentials: { readonly token: string; readonly key: string };
let folder: TemporaryFolder;

beforeAll(async () => {
  folder = await preparedDataDir();
  const port = await freePort();
  meterUrl = `http://127.0.0.1:${port}`;
  standalone = await startStandalone(folder.path, {
    NODE_OPTIONS: `--max-old-space-size=384 --import=${join(import.meta.dirname, 'child/busy-meter.mjs')}`,
    TEST_BUSY_METER_PORT: String(port),
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    // Broken answers count in it, and some come several times.
    SERVICE_BREAKER_FAILURES: '1000',
    // The upstream is in this process, which is busy with making large texts: a late probe is not a failure of the service.
    SERVICE_PROBE_TIMEOUT_MS: '600000',
  });
  await rpcCall(standalone.url, 'billing.tiers.set', { name: 'free', ...UNLIMITED }, ADMIN_TOKEN);
  upstream = await startScriptedAnswers();
  const vector = Array.from({ length: 1_536 }, (_, index) => (index % 8) / 8);
  engine = await startEngine({ vectorOf: () => vector });
  const capabilities = ['chat', 'embeddings', 'completions', 'rerank'];
  const api = { capabilities, dialects: ['responses'] };
  await registerBackend({ type: 'external', name: 'api', url: upstream.url, ...api });
  await registerBackend({ type: 'local-server', name: 'local', url: upstream.url });
  await registerBackend({ type: 'engine', name: 'engine', url: engine.url });
  credentials = await chatOnce(standalone.url, 'ann@example.com');
});
afterAll(async () => {
  await standalone.stop();
  await upstream.close();
  await engine.close();
  await folder.remove();
});

async function registerBackend(backend: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await fetch(`${standalone.url}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify(backend),
  });
  expect(await response.json()).toMatchObject({ state: 'Healthy' });
}

const MESSAGE = '{"role":"user","content":"x"}';
const call = (method: string, params: string, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const send = (more: string): string => call('chat.send', `{"model":"demo-chat",${more}}`);
const chat = (more: string): string => `{"model":"demo-chat","max_tokens":1,${more}}`;
const embed = (input: string): string => `{"model":"demo-chat","input":${input}}`;
const embedMuch = (input: string, dimensions: number): string =>
  `{"model":"demo-chat","input":${input},"dimensions":${dimensions}}`;
const MEBIBYTE = 1024 * 1024;
/** The size of the largest bodies, in MiB. */
const LARGE = fullSize(30, { small: 6 });

const RPC = '/api/rpc';
const CHAT = '/v1/chat/completions';
const EMBED = '/v1/embeddings';
const VIDEO = '/v1/video/generations';

type Shape = readonly [what: string, path: string, body: () => string];

/** One shape of every kind, on every surface. */
const USUAL_SHAPES: readonly Shape[] = [
  ['1.2 million numbers as messages', CHAT, () => chat(`"messages":${list(1_200_000, '0')}`)],
  ['10,000 numbers as messages', CHAT, () => chat(`"messages":${list(10_000, '0')}`)],
  ['numbers as content parts', CHAT, () => chat(`"messages":${list(20, partsOf('0'))}`)],
  ['empty content parts', CHAT, () => chat(`"messages":${list(20, partsOf('{}'))}`)],
  ['10,000 messages', CHAT, () => chat(`"messages":${list(10_000, MESSAGE)}`)],
  [
    'many fields of a tool',
    CHAT,
    () => chat(`"messages":[${MESSAGE}],"tools":[{${fields(90_000)}}]`),
  ],
  ['a schema that refers to itself twice', CHAT, () => chat(schemaOf(DOUBLING))],
  ['a pattern that never ends', CHAT, () => chat(schemaOf(ENDLESS))],
  ['a million levels', CHAT, () => `${'['.repeat(MEBIBYTE)}${']'.repeat(MEBIBYTE)}`],
  ['much text', CHAT, () => chat(`"messages":[${said('a b '.repeat((LARGE / 4) * MEBIBYTE))}]`)],
  ['null as inputs', EMBED, () => embed(list(100_000, 'null'))],
  ['lists of negative numbers', EMBED, () => embed(list(1_000, list(1_000, '-1')))],
  ['padding instead of base64', VIDEO, () => videoOf(`${'='.repeat(16 * MEBIBYTE)}AAAA`)],
  ['many tool calls with many values', CHAT, () => calling(LARGE * 12, 20_000)],
  ['400,000 numbers as messages', RPC, () => send(`"messages":${list(400_000, '0')}`)],
  ['10,000 messages', RPC, () => send(`"messages":${list(10_000, MESSAGE)}`)],
  ['an id of a million digits', RPC, () => call('system.status', '{}', '7'.repeat(1_000_000))],
  ['an id of nested lists', RPC, () => call('system.status', '{}', list(300_000, '[]'))],
  ['a batch of numbers', RPC, () => list(500_000, '0')],
  ['half a million levels', RPC, () => `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ['many unknown params', RPC, () => call('system.status', `{${fields(90_000)}}`)],
  ['a long method name', RPC, () => call('a'.repeat(1_000_000), '{}')],
];

/** Variants of them. */
const VARIANTS: readonly Shape[] = [
  [
    'millions of empty objects',
    CHAT,
    () => chat(`"messages":${list((LARGE / 3) * MEBIBYTE, '{}')}`),
  ],
  ['numbers as tools', CHAT, () => chat(`"messages":[${MESSAGE}],"tools":${list(999_999, '0')}`)],
  ['100,000 unknown fields', CHAT, () => chat(`"messages":[${MESSAGE}],${fields(100_000)}`)],
  ['a schema of many properties', CHAT, () => chat(schemaOf(`{"properties":{${fields(90_000)}}}`))],
  ['much Chinese', CHAT, () => chat(`"messages":[${said('你好'.repeat((LARGE / 6) * MEBIBYTE))}]`)],
  ['many quotes', CHAT, () => chat(`"messages":[${said('"'.repeat((LARGE / 2) * MEBIBYTE))}]`)],
  [
    'many half characters',
    CHAT,
    () => chat(`"messages":[${said('\ud83d'.repeat((LARGE / 6) * MEBIBYTE))}]`),
  ],
  ['millions of numbers', EMBED, () => embed(list((LARGE / 2) * MEBIBYTE, '7'))],
  ['much text in many dimensions', EMBED, () => embedMuch(`"${'a b '.repeat(MEBIBYTE)}"`, 4_096)],
  ['2,000 vectors', EMBED, () => embedMuch(list(2_000, '"x"'), 512)],
  ['arguments of a tool call with many values', CHAT, () => calling(1, (LARGE / 3) * MEBIBYTE)],
  ['a batch of rpc.discover', RPC, () => list(1_000, call('rpc.discover', '{}'))],
  ['many fields of extra', RPC, () => send(`"messages":[${MESSAGE}],"extra":{${fields(90_000)}}`)],
];

/** Every shape that once kept a process busy, or was found beside one. */
const SHAPES = fullTable([...USUAL_SHAPES, ...VARIANTS], { small: USUAL_SHAPES.length });

/** For a local server, which takes the arguments as an object: in a request they are a text of JSON. */
function calling(count: number, values: number): string {
  const tool = {
    id: 'c',
    type: 'function',
    function: { name: 'f', arguments: list(values, '{}') },
  };
  const calls = list(count, JSON.stringify(tool));
  return `{"model":"scripted-local","messages":[${MESSAGE},{"role":"assistant","content":null,"tool_calls":${calls}}]}`;
}

const DOUBLING = '{"$ref":"#/a","a":{"allOf":[{"$ref":"#/a"},{"$ref":"#/a"}]}}';
const ENDLESS = '{"type":"string","pattern":"^(((a+)+)+)+$","minLength":5000}';
function schemaOf(schema: string): string {
  const format = `{"type":"json_schema","json_schema":{"name":"x","schema":${schema}}}`;
  return `"messages":[${MESSAGE}],"response_format":${format}`;
}

function partsOf(part: string): string {
  return `{"role":"user","content":${list(10_000, part)}}`;
}

function said(content: string): string {
  return `{"role":"user","content":${JSON.stringify(content)}}`;
}

function videoOf(data_base64: string): string {
  const images = [{ data_base64, mime_type: 'image/png' }];
  return JSON.stringify({ model: 'demo-chat', prompt: 'x', images });
}

/** The longest piece of work since the last question, in milliseconds. */
const busyMs = async (): Promise<number> => Number(await (await fetch(meterUrl)).text());

async function post(
  path: string,
  body: Buffer,
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const bearer = path === RPC ? credentials.token : credentials.key;
  const headers = { authorization: `Bearer ${bearer}` };
  const asked = httpRequest(`${standalone.url}${path}`, { method: 'POST', headers });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, bytes: await buffer(response) };
}

test.each(SHAPES)('%s on %s delay no other request', async (_what, path, shape) => {
  const body = Buffer.from(shape());
  let longestMs = Infinity;
  for (let round = 0; round < ROUNDS_MAX && longestMs >= BUSY_MS_MAX; round += 1) {
    await busyMs();
    const { status, bytes } = await post(path, body);
    longestMs = await busyMs();
    expect(status).toBeLessThan(500);
    const isRefused = status >= 400 || bytes.subarray(0, 64).includes('"error"');
    expect(bytes.length).toBeLessThan(isRefused ? ERROR_BYTES_MAX : 24 * MEBIBYTE);
  }
  expect(longestMs).toBeLessThan(BUSY_MS_MAX);
});

const SERVED = { status: 200, isShort: false, code: undefined, message: undefined };
/** A stream that is broken off has the status 200. */
const REFUSED = {
  status: expect.any(Number) as number,
  isShort: true,
  code: 'bad_gateway',
  message: expect.stringMatching(/^[^{}]{20,200}$/) as string,
};

async function askFor({ path, request, answer, isRefused }: LargeAnswer): Promise<void> {
  if (answer !== undefined) upstream.setAnswer(answer());
  const { status, bytes } = await post(path, Buffer.from(request));
  const isShort = bytes.length < REFUSAL_BYTES_MAX;
  const end = String(bytes.subarray(-REFUSAL_BYTES_MAX));
  const [, message, code] = /"message":"([^"]*)"[^{}]*"code":"(\w+)"/.exec(end) ?? [];
  expect({ status, isShort, code, message }).toEqual(isRefused ? REFUSED : SERVED);
}

test.each(LARGE_ANSWERS.map((answer) => [answer.what, answer] as const))(
  'an upstream that answers %s delays no other request',
  async (_what, answer) => {
    let longestMs = Infinity;
    for (let round = 0; round < ROUNDS_MAX && longestMs >= BUSY_MS_MAX; round += 1) {
      await busyMs();
      await askFor(answer);
      longestMs = await busyMs();
    }
    expect(longestMs).toBeLessThan(BUSY_MS_MAX);
  },
);

/**
 * Asks two processes at the same moments, so that whatever else the machine does delays both; `stop` returns by how much the
 * answers of the first were later, in milliseconds.
 */
function compareDelays(url: string, controlUrl: string): { stop(): Promise<readonly number[]> } {
  const answers: Promise<number>[] = [];
  const timer = setInterval(() => {
    const pair = Promise.all([healthMs(url), healthMs(controlUrl)]);
    answers.push(pair.then(([ours, control]) => ours - control));
  }, HEALTH_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(answers);
    },
  };
}

async function healthMs(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/healthz`);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - startedAt;
}

/** By how much the health check was late in the best of some rounds, in milliseconds. */
async function lateMs(controlUrl: string, ask: () => Promise<unknown>): Promise<number> {
  let bestMs = Infinity;
  for (let round = 0; round < ROUNDS_MAX && bestMs > HEALTH_LATE_MS; round += 1) {
    const delays = compareDelays(standalone.url, controlUrl);
    const late = ask().then(
      () => delays.stop(),
      async (error: unknown) => {
        await delays.stop();
        throw error;
      },
    );
    bestMs = Math.min(bestMs, Math.max(0, ...(await late)));
  }
  return bestMs;
}

fullTest('nothing delays the health check much beyond that of an idle process', async () => {
  const controlFolder = await preparedDataDir();
  const control = await startStandalone(controlFolder.path);
  const late: string[] = [];
  const check = async (what: string, ask: () => Promise<unknown>): Promise<void> => {
    const byMs = await lateMs(control.url, ask);
    if (byMs > HEALTH_LATE_MS) late.push(`${what}: ${byMs} ms`);
  };
  try {
    for (const [what, path, shape] of SHAPES) {
      const body = Buffer.from(shape());
      await check(`${what} on ${path}`, () => post(path, body));
    }
    for (const answer of LARGE_ANSWERS) await check(answer.what, () => askFor(answer));
    expect(late).toEqual([]);
  } finally {
    await control.stop();
    await controlFolder.remove();
  }
});

test('afterwards the process still serves', async () => {
  const { status } = await post(CHAT, Buffer.from(chat(`"messages":[${MESSAGE}]`)));
  expect(status).toBe(200);
});
