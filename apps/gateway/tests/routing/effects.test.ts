import { RETRY_REASONS } from '@model-gateway/router';
import { temporaryDataDir, waitUntil, type TemporaryFolder } from '@model-gateway/testkit';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  sendJson,
  startRelayUpstream,
  type RelayUpstream,
  type ReceivedRequest,
} from '../relay/relay-upstream.ts';
import { END, textOf } from '../relay/upload-client.ts';

const CAPABILITIES = ['images', 'speech', 'transcription', 'moderations'];
/** How long a target may take until its first byte. */
const TARGET_MS = 8_000;

let gateway: GatewayUnderTest;
let data: TemporaryFolder;
let first: RelayUpstream;
let second: RelayUpstream;

beforeAll(async () => {
  data = await temporaryDataDir();
  gateway = await startGateway({
    SERVICE_DATA_DIR: data.path,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  first = await startRelayUpstream({ models: ['primary'] });
  second = await startRelayUpstream({ models: ['spare', 'other'] });
  const gone = await startRelayUpstream({ models: ['lost'] });
  const keys = ['the-first-of-two-keys', 'the-second-of-two-keys'];
  await register('first', { url: first.url, api_keys: keys });
  await register('second', { url: second.url });
  await register('gone', { url: gone.url });
  await gone.close();
  await setRoute('best', 'primary', TARGET_MS);
  await setRoute('refused', 'lost');
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([first.close(), second.close(), data.remove()]);
});

async function register(name: string, backend: object): Promise<void> {
  const registration = { type: 'external', name, capabilities: CAPABILITIES, ...backend };
  expect((await registerBackend(gateway, registration)).status).toBe(200);
}

/** Sets a route to a target and, when that fails, to `spare`. */
async function setRoute(model: string, target: string, timeoutMs?: number): Promise<void> {
  const { database, bus } = gateway.test.context;
  const targets = [
    { model: target, priority: 0, weight: 1 },
    { model: 'spare', priority: 1, weight: 1 },
  ];
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  await database.routeRules.set({
    model,
    targets,
    attempts: 3,
    retryOn: RETRY_REASONS,
    ...timeout,
  });
  await bus.channels.publish('routes', model);
  await waitUntil(async () => {
    const headers = { 'x-api-key': gateway.key };
    return (await fetch(`${gateway.url}/v1/models/${model}`, { headers })).status === 200;
  });
}

/** Sends a request, which may also be served by another model, and waits for its answer. */
async function send(path: string, body: object, model: string): Promise<number> {
  const request = { model, models: ['other'], ...body };
  const isForm = path === 'audio/transcriptions';
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.key,
      'content-type': isForm ? 'multipart/form-data; boundary=x-boundary' : 'application/json',
    },
    body: isForm ? form(model) : JSON.stringify(request),
  });
  await response.text();
  return response.status;
}

const form = (model: string): string =>
  textOf([
    { name: 'models', value: 'other' },
    // The model comes last, so that the file is kept and can be sent again.
    { name: 'file', value: 'sound', filename: 'a.mp3' },
    { name: 'model', value: model },
  ]) + END;

const OPERATIONS = [
  { path: 'images/generations', body: { prompt: 'a cat' }, hasEffects: true },
  { path: 'audio/speech', body: { input: 'Hi', voice: 'alloy' }, hasEffects: true },
  { path: 'audio/transcriptions', body: {}, hasEffects: true },
  { path: 'moderations', body: { input: 'Hi' }, hasEffects: false },
];

const callsOf = ({ calls }: RelayUpstream, path: string): number =>
  calls.filter((call) => call.path === `/v1/${path}`).length;

const FAILURES = [
  { failure: 'timed out', isAnswered: false, fail: () => undefined },
  {
    failure: 'lost the connection',
    isAnswered: false,
    fail: async ({ body, response }: ReceivedRequest) => {
      await body;
      response.destroy();
    },
  },
  {
    failure: 'lost the connection of its answer',
    isAnswered: false,
    fail: async ({ body, response }: ReceivedRequest) => {
      await body;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' });
      response.write('{', () => response.destroy());
    },
  },
  {
    failure: 'sits behind a proxy that timed out',
    isAnswered: false,
    fail: ({ response }: ReceivedRequest) => sendJson(response, {}, 504),
  },
  {
    failure: 'answered 503',
    isAnswered: true,
    fail: ({ response }: ReceivedRequest) => sendJson(response, {}, 503),
  },
];

test.each(FAILURES)(
  'a request with effects to an upstream that $failure: repeated $isAnswered',
  async ({ isAnswered, fail }) => {
    first.answer(fail);
    const outcomes = OPERATIONS.map(async ({ path, body, hasEffects }) => {
      const before = [callsOf(first, path), callsOf(second, path)] as const;
      const status = await send(path, body, 'best');
      return {
        path,
        hasEffects,
        isServed: status === 200,
        calls: [callsOf(first, path) - before[0], callsOf(second, path) - before[1]],
      };
    });
    const expected = OPERATIONS.map(({ path, hasEffects }) => {
      const isServed = isAnswered || !hasEffects;
      return { path, hasEffects, isServed, calls: [1, isServed ? 1 : 0] };
    });
    expect(await Promise.all(outcomes)).toEqual(expected);
  },
);

describe('a request that could not be sent, because the connection was refused', () => {
  test.each(OPERATIONS)('$path goes to the next target', async ({ path, body }) => {
    const before = callsOf(second, path);
    expect(await send(path, body, 'refused')).toBe(200);
    expect(callsOf(second, path) - before).toBe(1);
  });
});
