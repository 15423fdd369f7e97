import { readStream, type ReadStream } from '@model-gateway/testkit';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startCutUpstream, type CutUpstream } from './cut-upstream.ts';

let gateway: GatewayUnderTest;
let upstream: CutUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '100000',
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '1500',
  });
  upstream = await startCutUpstream();
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`;
const chunk = (content: string): string =>
  data({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

/** The beginning of an answer of each kind of upstream, a text. */
const KINDS = {
  external: [chunk('one'), chunk(' two')],
  azure: [chunk('one'), chunk(' two')],
  anthropic: [
    named({
      type: 'message_start',
      message: { id: 'x', model: 'cut', usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    named({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }),
    named({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'one' },
    }),
  ],
  gemini: [data({ candidates: [{ content: { role: 'model', parts: [{ text: 'one' }] } }] })],
  'local-server': [
    `${JSON.stringify({ model: 'cut', message: { role: 'assistant', content: 'one' }, done: false })}\n`,
  ],
  responses: [
    named({
      type: 'response.created',
      sequence_number: 0,
      response: { id: 'x', object: 'response', status: 'in_progress', output: [] },
    }),
    named({
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { type: 'message', id: 'm', role: 'assistant', status: 'in_progress', content: [] },
    }),
    named({
      type: 'response.output_text.delta',
      sequence_number: 2,
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: 'one',
    }),
  ],
} as const;
type Kind = keyof typeof KINDS;

const CLIENTS = {
  'chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 },
  responses: { input: 'Hi' },
} as const;
type Client = keyof typeof CLIENTS;

const ask = (path: Client): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ model: 'cut', stream: true, ...CLIENTS[path] }),
  });

async function register(kind: Kind): Promise<void> {
  await admin(gateway, 'DELETE', 'backends/by-name/up');
  const type = kind === 'responses' ? 'external' : kind;
  const dialects = kind === 'responses' ? { dialects: ['responses'] } : {};
  const response = await registerBackend(gateway, {
    type,
    name: 'up',
    url: upstream.url,
    api_key: 'the key of the upstream',
    models: ['cut'],
    ...dialects,
  });
  expect(response.status).toBe(200);
}

/** What tells each client that its answer failed, and what would tell it that it is whole. */
const FAILURES: Readonly<Record<Client, { isCut: boolean; last: RegExp; never: RegExp }>> = {
  'chat/completions': {
    isCut: true,
    last: /^data: \{"error":\{.*"code":"bad_gateway"/,
    never: /\[DONE\]|"finish_reason":"/,
  },
  messages: {
    isCut: false,
    last: /^event: error\ndata: \{"type":"error"/,
    never: /event: message_(stop|delta)/,
  },
  responses: {
    isCut: false,
    last: /^event: response\.failed\n/,
    never: /\[DONE\]|response\.completed/,
  },
};

function expectCut(path: Client, read: ReadStream | undefined): void {
  const { text = '', isCut } = read ?? {};
  const expected = FAILURES[path];
  expect(isCut).toBe(expected.isCut);
  expect(text.trimEnd().split('\n\n').at(-1)).toMatch(expected.last);
  expect(text).not.toMatch(expected.never);
}

describe.each(Object.keys(KINDS) as Kind[])('an answer of the kind %s', (kind) => {
  beforeAll(() => register(kind));

  // Others ask that kind in chat completions.
  const clients = (Object.keys(CLIENTS) as Client[]).filter(
    (path) => kind !== 'responses' || path === 'responses',
  );
  test.each(['end', 'reset', 'silence'] as const)(
    'that is cut by its %s looks whole to nobody',
    async (ending) => {
      upstream.answer(KINDS[kind], ending === 'end' ? 'end' : 'silence');
      const responses = await Promise.all(clients.map(ask));
      if (ending === 'reset') upstream.reset();
      const read = await Promise.all(responses.map(readStream));
      for (const [at, path] of clients.entries()) {
        expect(read[at]?.text).toContain('one');
        expectCut(path, read[at]);
      }
    },
  );
});

describe('what the gateway itself ends', () => {
  beforeAll(() => register('external'));

  test.each<{ why: string; pieces: readonly string[] }>([
    { why: 'an event over 16 MiB', pieces: [chunk('x'.repeat(17 * 1024 * 1024))] },
    { why: 'too many events that are no JSON', pieces: ['data: {no\n\n'.repeat(101)] },
    { why: 'an event with too many values', pieces: [data([...Array(300_000).keys()])] },
  ])('$why', async ({ pieces }) => {
    upstream.answer([chunk('one'), ...pieces, chunk(' two')], 'silence');
    const paths = Object.keys(CLIENTS) as Client[];
    const read = await Promise.all(paths.map(async (path) => readStream(await ask(path))));
    for (const [at, path] of paths.entries()) expectCut(path, read[at]);
  });
});
