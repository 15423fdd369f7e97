import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGateway, type GatewayUnderTest } from '../gateway.ts';
import { chatClient } from './clients/chat.ts';
import type { MatrixClient } from './clients/client.ts';
import { messagesClient } from './clients/messages.ts';
import { responsesClient } from './clients/responses.ts';
import { documentTable, tableAfter } from './document-table.ts';
import { listOf, PNG, type ModelRequest, type Fields, type ModelAnswer } from './facts.ts';
import { FEATURES, GREETING, REFUSAL, type ClientName, type Feature } from './features.ts';
import { ERROR_CASES } from './upstream-errors.ts';
import { KINDS, type Kind, type MatrixKind } from './kinds.ts';
import { registerKind } from './register-kind.ts';
import type { MatrixUpstream } from './upstreams/wire-server.ts';

const CLIENTS: Readonly<Record<ClientName, MatrixClient>> = {
  chat: chatClient,
  responses: responsesClient,
  messages: messagesClient,
};
const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];
const KIND_NAMES = Object.keys(KINDS) as Kind[];

let gateway: GatewayUnderTest;
const upstreams = new Map<Kind, MatrixUpstream>();

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '100000',
  });
  for (const name of KIND_NAMES) {
    const upstream = await KINDS[name].start();
    upstreams.set(name, upstream);
    await registerKind(gateway, name, upstream);
  }
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

const upstreamOf = (kind: Kind): MatrixUpstream => {
  const upstream = upstreams.get(kind);
  if (upstream === undefined) throw new Error(`no upstream of the kind ${kind}`);
  return upstream;
};

interface Row {
  readonly client: ClientName;
  readonly kind: Kind;
  readonly feature: Feature;
  readonly stream: boolean;
}

const rowsOf = (features: readonly Feature[], kinds: readonly Kind[] = KIND_NAMES): Row[] =>
  features.flatMap((feature) =>
    (feature.clients ?? CLIENT_NAMES).flatMap((client) =>
      kinds.flatMap((kind) => [false, true].map((stream) => ({ client, kind, feature, stream }))),
    ),
  );

const ask = (client: ClientName, kind: Kind, body: Fields, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${CLIENTS[client].path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: JSON.stringify({ ...body, model: 'm', provider: { only: [kind] } }),
  });

async function readAnswer(client: ClientName, response: Response): Promise<Fields> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return JSON.parse(text) as Fields;
  }
  const datas = text.split('\n').filter((line) => line.startsWith('data: {'));
  return CLIENTS[client].joined(
    datas.map((line) => JSON.parse(line.slice('data: '.length)) as Fields),
  );
}

const heardBy = (client: ClientName, kind: Kind, said: ModelAnswer): ModelAnswer => {
  const { says = (all) => all }: MatrixKind = KINDS[kind];
  return CLIENTS[client].hears(says(said));
};
const sentTo = (kind: Kind, asked: ModelRequest): ModelRequest => {
  const { gets = (all) => all }: MatrixKind = KINDS[kind];
  return gets(asked);
};

const named = ({ client, kind, feature, stream }: Row): [string, Row] => [
  `${client} to ${kind}: ${feature.name}${stream ? ', streamed' : ''}`,
  { client, kind, feature, stream },
];
const isRefused = ({ kind, feature }: Row): boolean => feature.refused?.[kind] !== undefined;
const ROWS = [...rowsOf(FEATURES), ...rowsOf([REFUSAL], ['external', 'azure', 'agent'])];

describe('any API reaches any kind of upstream', () => {
  test.each(ROWS.filter((row) => !isRefused(row)).map(named))('%s', async (_name, row) => {
    const { client, kind, feature, stream } = row;
    const { asked, said, results, more, ignored, lost } = feature;
    const upstream = upstreamOf(kind);
    upstream.answer(said, { stream });
    const body = { ...CLIENTS[client].write(asked), ...more, stream };
    const response = await ask(client, kind, body);
    const answer = await readAnswer(client, response);
    expect(CLIENTS[client].read(answer)).toEqual(heardBy(client, kind, said));
    expect(upstream.lastAsked()).toEqual(sentTo(kind, asked));
    expect(response.headers.get('x-service-ignored')).toBe(ignored?.[kind] ?? null);
    if (results === undefined) return;
    upstream.answer({ ...said, calls: undefined, finish: 'stop' }, { stream });
    const next = await ask(client, kind, CLIENTS[client].continued(body, answer, results));
    await readAnswer(client, next);
    expect(next.headers.get('x-service-ignored')).toBe(lost?.[kind] ?? null);
    const { says = (all) => all }: MatrixKind = KINDS[kind];
    const { finish: _finish, usage: _usage, ...reply } = says(said);
    const history = [
      ...asked.messages,
      { role: 'assistant' as const, ...reply },
      ...results.map((result) => ({ role: 'tool' as const, ...result })),
    ];
    expect(upstream.lastAsked()).toEqual(sentTo(kind, { ...asked, messages: history }));
  });
});

describe('what a kind cannot be asked is refused by name', () => {
  test.each(ROWS.filter(isRefused).map(named))('%s', async (_name, row) => {
    const { client, kind, feature, stream } = row;
    const upstream = upstreamOf(kind);
    const before = upstream.requests.length;
    const body = { ...CLIENTS[client].write(feature.asked), ...feature.more, stream };
    const response = await ask(client, kind, body);
    expect(response.status).toBe(400);
    const { message } = CLIENTS[client].readError((await response.json()) as Fields);
    expect(message).toMatch(new RegExp(`^'?${feature.refused?.[kind]}'?: .*${kind}`));
    expect(upstream.requests).toHaveLength(before);
  });
});

test('a request that the first backend cannot take goes to another one', async () => {
  upstreamOf('external').answer(GREETING.said, { stream: false });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({
      ...chatClient.write(GREETING.asked),
      model: 'm',
      n: 2,
      provider: { order: ['anthropic', 'external'], only: ['anthropic', 'external'] },
    }),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-backend')).toBe('external');
});

const IMAGE = 'iVBORw0KGgo=';
const pictured: Readonly<Record<'responses' | 'messages', Fields>> = {
  responses: {
    input: [
      { role: 'user', content: 'Look!' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_image', image_url: `${PNG}${IMAGE}` }],
      },
      { type: 'function_call_output', call_id: 'c2', output: 'dark' },
    ],
  },
  messages: {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Look!' },
      {
        role: 'assistant',
        content: ['c1', 'c2'].map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: IMAGE },
              },
            ],
          },
          { type: 'tool_result', tool_use_id: 'c2', content: 'dark' },
        ],
      },
    ],
  },
};
const PICTURED_ROWS = KIND_NAMES.flatMap((kind) =>
  (['responses', 'messages'] as const).map((client) => ({ kind, client })),
);

test.each(PICTURED_ROWS)(
  'an image that a tool returned: $client to $kind',
  async ({ kind, client }) => {
    const upstream = upstreamOf(kind);
    upstream.answer(GREETING.said, { stream: false });
    const response = await ask(client, kind, pictured[client]);
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    const sent = upstream.requests.at(-1) ?? {};
    expect(JSON.stringify(sent).split(IMAGE)).toHaveLength(2);
    if (kind === 'anthropic' || kind === 'gemini') return;
    // Chat completions take only text from tools, and their results follow one another.
    const messages = listOf(sent['messages']);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(messages.slice(2, 4).map(({ content }) => typeof content)).toEqual(['string', 'string']);
  },
);

test('a thought without a signature is not sent to an upstream that demands one', async () => {
  const upstream = upstreamOf('anthropic');
  upstream.answer(GREETING.said, { stream: false });
  const thought = { type: 'thinking', thinking: 'Of another model.', signature: '' };
  const response = await ask('messages', 'anthropic', {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [thought, { type: 'text', text: 'Hello' }] },
      { role: 'user', content: 'Again' },
    ],
  });
  expect(response.status).toBe(200);
  expect(upstream.lastAsked().messages[1]).toEqual({ role: 'assistant', text: 'Hello' });
});

describe('an error of an upstream has the shape of the client, and its message', () => {
  const rows = ERROR_CASES.flatMap((failing) =>
    CLIENT_NAMES.flatMap((client) => KIND_NAMES.map((kind) => ({ ...failing, client, kind }))),
  ).filter(({ kind }) => kind !== 'engine');
  test.each(rows)('$client to $kind: $why', async ({ client, kind, status, isPassed, gets }) => {
    const upstream = upstreamOf(kind);
    upstream.refuse(status, 'the reason of the upstream');
    const headers: Record<string, string> = isPassed ? { 'x-service-errors': 'upstream' } : {};
    for (const stream of [false, true]) {
      const body = { ...CLIENTS[client].write(GREETING.asked), stream };
      const before = upstream.requests.length;
      const response = await ask(client, kind, body, headers);
      const { type, message } = CLIENTS[client].readError((await response.json()) as Fields);
      expect({ status: response.status, type }).toEqual(gets[client]);
      expect(message).toContain('the reason of the upstream');
      expect(upstream.requests).toHaveLength(before + 1);
    }
  });

  test.each(CLIENT_NAMES)('%s to engine', async (client) => {
    upstreamOf('engine').refuse(500, 'the reason of the engine');
    const response = await ask(client, 'engine', CLIENTS[client].write(GREETING.asked));
    expect(response.status).toBe(client === 'messages' ? 500 : 502);
    const { message } = CLIENTS[client].readError((await response.json()) as Fields);
    expect(message).toContain('the reason of the engine');
  });
});

describe('text completions pass to servers of that API', () => {
  const complete = (kind: Kind) =>
    fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', prompt: 'Once', provider: { only: [kind] } }),
    });

  test.each(['external', 'azure'] as const)('%s', async (kind) => {
    const upstream = upstreamOf(kind);
    upstream.answer(GREETING.said, { stream: false });
    const response = await complete(kind);
    expect(response.status).toBe(200);
    await expect(response.json()).resolves.toMatchObject({ id: 'chatcmpl-1' });
    expect(upstream.requests.at(-1)).toEqual({ model: 'm', prompt: 'Once' });
  });

  test.each(['agent', 'anthropic', 'gemini', 'local-server', 'engine'] as const)(
    'not to %s',
    async (kind) => {
      const before = upstreamOf(kind).requests.length;
      const response = await complete(kind);
      expect(response.status).toBe(500);
      await expect(response.json()).resolves.toMatchObject({
        error: { message: expect.stringContaining('completions') as string },
      });
      expect(upstreamOf(kind).requests).toHaveLength(before);
    },
  );
});

test('the document has this table', async () => {
  const path = join(import.meta.dirname, '../../../../docs/dialects.md');
  const text = await readFile(path, 'utf8');
  expect(tableAfter('## What works where', text)).toEqual(documentTable());
});
