import { request as startRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

type Headers = Readonly<Record<string, string>>;

let upstream: RunningChatUpstream;
const gateways = new Map<string, GatewayUnderTest>();

/** One for each setting. */
const SETTINGS: Readonly<Record<string, Headers>> = {
  auto: {},
  openai: { SERVICE_ERRORS: 'openai' },
  pass: { SERVICE_UPSTREAM_ERRORS: 'pass' },
  specified: { SERVICE_ERRORS: 'specified' },
  closed: { SERVICE_API_RATE_LIMIT_RPM: '0' },
};

beforeAll(async () => {
  upstream = await startChatUpstream({ models: ['m'] });
  upstream.faults.always({ kind: 'status', status: 400, body: { error: TOO_LONG } });
  for (const [name, env] of Object.entries(SETTINGS)) {
    const gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000', ...env });
    gateways.set(name, gateway);
    await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  }
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.test.close();
  await upstream.close();
});

const TOO_LONG = {
  message: 'at most 8192 tokens',
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  param: 'messages',
};
const CURL = { accept: '*/*', 'user-agent': 'curl/8.14.1' };
const PYTHON = {
  accept: 'application/json',
  'user-agent': 'OpenAI/Python 2.54.0',
  'x-stainless-lang': 'python',
};

interface Asked {
  readonly setting?: string;
  readonly path?: string;
  readonly method?: string;
  readonly key?: string;
}

/** Sends these headers and no others, as `fetch` cannot. */
async function ask(headers: Headers, { setting = 'auto', path, method, key }: Asked = {}) {
  const gateway = gateways.get(setting);
  if (gateway === undefined) throw new Error(`no gateway with the setting ${setting}`);
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { model: 'm', messages, input: 'Hi', prompt: 'Hi', max_tokens: 9 };
  const request = startRequest(`${gateway.url}/v1/${path ?? 'chat/completions'}`, {
    method: method ?? 'POST',
    headers: { ...headers, authorization: `Bearer ${key ?? gateway.key}` },
  });
  request.end(method === 'GET' ? undefined : JSON.stringify(body));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

const isJson = ({ headers }: Awaited<ReturnType<typeof ask>>): boolean =>
  headers['content-type']?.startsWith('application/json') === true;
const errorOf = (answer: Awaited<ReturnType<typeof ask>>): unknown =>
  (JSON.parse(answer.text) as { error: unknown }).error;

async function expectOpenAi(headers: Headers, setting = 'auto'): Promise<void> {
  const refused = await ask(headers, { setting, key: 'wrong' });
  expect([refused.status, isJson(refused)]).toEqual([401, true]);
  expect(errorOf(refused)).toEqual({
    message: 'Invalid API key',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    param: null,
  });
  for (const path of ['chat/completions', 'embeddings']) {
    const failed = await ask(headers, { setting, path });
    expect([failed.status, errorOf(failed)]).toEqual([400, TOO_LONG]);
  }
}

async function expectSpecified(headers: Headers, setting = 'auto'): Promise<void> {
  const refused = await ask(headers, { setting, key: 'wrong' });
  expect([refused.status, refused.text]).toEqual([401, 'Invalid API key']);
  const failed = await ask(headers, { setting });
  expect(failed.status).toBe(502);
  expect(errorOf(failed)).toMatchObject({
    code: 'bad_gateway',
    message: 'upstream 400: at most 8192 tokens',
    upstream: { status: 400, ...TOO_LONG },
  });
}

test.each<[string, Headers]>([
  ['openai for Python', PYTHON],
  ['openai-java', { 'user-agent': 'OpenAI/Java 4.0.0', 'x-stainless-lang': 'java' }],
  ['go-openai', { accept: 'application/json', 'user-agent': 'Go-http-client/1.1' }],
  ['eino', { accept: 'text/event-stream', 'user-agent': 'Go-http-client/1.1' }],
  ['langchaingo', { 'user-agent': 'Go-http-client/1.1' }],
  ['langchain4j', { accept: '*/*', 'user-agent': 'langchain4j-openai' }],
  ['Spring AI', { 'user-agent': 'spring-ai' }],
  ['async-openai', { accept: '*/*' }],
])("%s gets OpenAI's form", async (_name, headers) => {
  await expectOpenAi(headers);
  const limited = await ask(headers, { setting: 'closed' });
  expect([limited.status, isJson(limited), limited.headers['retry-after']]).toEqual([
    429,
    true,
    '60',
  ]);
  await expectOpenAi(headers, 'openai');
  await expectSpecified(headers, 'specified');
  await expectSpecified({ ...headers, 'x-service-errors': 'specified' });
});

test.each<[string, Headers]>([
  ['curl', CURL],
  ['fetch', { accept: '*/*', 'accept-language': '*', 'user-agent': 'node' }],
  ['requests', { accept: '*/*', 'user-agent': 'python-requests/2.32.5' }],
])('%s gets the specified form', async (_name, headers) => {
  await expectSpecified(headers);
  await expectOpenAi(headers, 'openai');
  await expectOpenAi(headers, 'pass');
  await expectOpenAi({ ...headers, 'x-service-errors': 'upstream' }, 'specified');
});

test('the limit of the process says when to try again in the form that has it', async () => {
  const plain = await ask(CURL, { setting: 'closed' });
  expect([plain.status, plain.text, plain.headers['retry-after']]).toEqual([
    429,
    'Rate limit exceeded. Try again later.',
    undefined,
  ]);
  const json = await ask(PYTHON, { setting: 'closed' });
  expect([json.status, json.headers['retry-after']]).toEqual([429, '60']);
  expect(errorOf(json)).toMatchObject({ code: 'rate_limit_exceeded' });
});

test.each(['models', 'models/m', 'video/generations/x', 'embeddings'])(
  'a wrong key is invalid_api_key on %s, too',
  async (path) => {
    const method = path === 'embeddings' ? 'POST' : 'GET';
    const refused = await ask(PYTHON, { path, method, key: 'wrong' });
    expect([refused.status, errorOf(refused)]).toMatchObject([401, { code: 'invalid_api_key' }]);
    const plain = await ask(CURL, { path, method, key: 'wrong' });
    expect([plain.status, isJson(plain)]).toEqual([401, false]);
  },
);

const MESSAGES_REFUSAL = { type: 'error', error: { type: 'authentication_error' } };

test.each([
  { path: 'messages', headers: CURL, expected: MESSAGES_REFUSAL },
  { path: 'messages/count_tokens', headers: CURL, expected: MESSAGES_REFUSAL },
  {
    path: 'models',
    method: 'GET',
    headers: { ...CURL, 'anthropic-version': '2023-06-01' },
    expected: MESSAGES_REFUSAL,
  },
  {
    path: 'models/m',
    method: 'GET',
    headers: { ...CURL, 'anthropic-version': '2023-06-01' },
    expected: MESSAGES_REFUSAL,
  },
  { path: 'responses', headers: CURL, expected: { error: { code: 'invalid_api_key' } } },
  { path: 'completions', headers: CURL, expected: { error: { code: 'invalid_api_key' } } },
  { path: 'rerank', headers: CURL, expected: { error: { code: 'invalid_api_key' } } },
])('$path has its own form, whatever is set', async ({ path, method, headers, expected }) => {
  for (const own of [headers, { ...headers, 'x-service-errors': 'specified' }])
    for (const setting of ['auto', 'specified']) {
      const asked = { path, setting, ...(method === undefined ? {} : { method }) };
      const refused = await ask(own, { ...asked, key: 'wrong' });
      expect([refused.status, JSON.parse(refused.text)]).toMatchObject([401, expected]);
    }
  const limited = await ask(headers, {
    path,
    setting: 'closed',
    ...(method === undefined ? {} : { method }),
  });
  expect([limited.status, isJson(limited)]).toEqual([429, true]);
  expect(limited.headers['retry-after']).toBe('60');
});
