import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '@model-gateway/kernel';
import { startEngine, type RunningEngine } from '@model-gateway/testkit/upstreams';
import { startScriptedAnswers, type ScriptedAnswers } from './scripted-answers.ts';
import { HEALTH_LATE_MS, lateMs } from './health-delays.ts';
import { LARGE_ANSWERS, REFUSAL_BYTES_MAX, type LargeAnswer } from './large-answers.ts';
import {
  chat,
  CHAT,
  FORM_BOUNDARY,
  LARGE_REQUESTS,
  MESSAGE,
  RPC,
  RPC_SOCKET,
  UPLOAD,
} from './large-requests.ts';
import { chatOnce, startStandalone } from './standalone.ts';
import {
  askSocket,
  fullTest,
  preparedDataDir,
  rpcCall,
  startProcess,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';

/** In CPU time; the rule is 200 ms, and a machine that is busy with other things has slower caches. */
const BUSY_MS_MAX = 300;
/** A garbage collection, or a busy host of this machine, adds to a round; a shape that blocks does so in each. */
const ROUNDS_MAX = 3;
const MEBIBYTE = 1024 * 1024;
const ERROR_BYTES_MAX = 16 * 1024;
/** Of a WebSocket, like the status 500. */
const FAILED_CLOSE_CODE = 1011;
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
  const capabilities = ['chat', 'embeddings', 'completions', 'rerank', 'transcription'];
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

/** The longest piece of work since the last question, in milliseconds. */
const busyMs = async (): Promise<number> => Number(await (await fetch(meterUrl)).text());

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
}

/** Sends a body to a path, or as a frame over a WebSocket. */
async function post(path: string, body: Buffer): Promise<Answer> {
  if (path === RPC_SOCKET) return postFrame(body);
  const bearer = path === RPC ? credentials.token : credentials.key;
  const headers = {
    authorization: `Bearer ${bearer}`,
    ...(path === UPLOAD
      ? { 'content-type': `multipart/form-data; boundary=${FORM_BOUNDARY}` }
      : {}),
  };
  const asked = httpRequest(`${standalone.url}${path}`, { method: 'POST', headers });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // An upload that is refused is not read to its end.
  asked.on('error', () => undefined);
  return { status: response.statusCode ?? 0, bytes: await buffer(response) };
}

/** A connection that is closed because of the frame is a refusal, unless the server failed. */
async function postFrame(frame: Buffer): Promise<Answer> {
  const { closeCode, bytes } = await askSocket(`${standalone.url}${RPC}`, credentials.token, frame);
  if (closeCode === undefined) return { status: 200, bytes };
  return { status: closeCode === FAILED_CLOSE_CODE ? 500 : 400, bytes };
}

test.each(LARGE_REQUESTS)('%s on %s delay no other request', async (_what, path, shape) => {
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

type Requests = readonly (readonly [what: string, ask: () => Promise<unknown>])[];

/** The requests after which the health check was later than that of the control. */
async function lateAfter(requests: Requests, controlUrl: string): Promise<readonly string[]> {
  const late: string[] = [];
  for (const [what, ask] of requests) {
    const { url, pid } = standalone;
    const byMs = await lateMs({ url, pid, controlUrl }, ask);
    if (byMs > HEALTH_LATE_MS) late.push(`${what}: ${byMs} ms`);
  }
  return late;
}

const requestOf = ([what, path, shape]: (typeof LARGE_REQUESTS)[number]): Requests[number] => {
  const body = Buffer.from(shape());
  return [`${what} on ${path}`, () => post(path, body)];
};

test('one request of every surface delays the health check less than a piece of work that is allowed', async () => {
  const control = await startProcess({
    script: join(import.meta.dirname, 'child/working-control.mjs'),
    readyPath: '/',
  });
  try {
    const paths = [...new Set(LARGE_REQUESTS.map(([, path]) => path))];
    const first = paths.map((path) => LARGE_REQUESTS.filter((one) => one[1] === path).slice(0, 1));
    expect(await lateAfter(first.flat().map(requestOf), control.url)).toEqual([]);
  } finally {
    await control.stop();
  }
});

fullTest('nothing delays the health check much beyond that of an idle process', async () => {
  const controlFolder = await preparedDataDir();
  const control = await startStandalone(controlFolder.path);
  try {
    const answers = LARGE_ANSWERS.map((one) => [one.what, () => askFor(one)] as const);
    for (const request of LARGE_REQUESTS)
      expect(await lateAfter([requestOf(request)], control.url)).toEqual([]);
    expect(await lateAfter(answers, control.url)).toEqual([]);
  } finally {
    await control.stop();
    await controlFolder.remove();
  }
});

test('afterwards the process still serves', async () => {
  const { status } = await post(CHAT, Buffer.from(chat(`"messages":[${MESSAGE}]`)));
  expect(status).toBe(200);
});
