import { expectRecorded } from '@model-gateway/testkit';
import { chatClient } from '../matrix/clients/chat.ts';
import type { MatrixClient } from '../matrix/clients/client.ts';
import { messagesClient } from '../matrix/clients/messages.ts';
import { responsesClient } from '../matrix/clients/responses.ts';
import type { Fields } from '../matrix/facts.ts';
import { FEATURES, type ClientName } from '../matrix/features.ts';
import { KINDS, type Kind } from '../matrix/kinds.ts';
import { FAULTS, FAULTY_KINDS, unfinished, type FaultyKind } from './faults.ts';
import { OWN_CELLS } from './own-cells.ts';
import { GREETING, openScene, steadyHeaders, type Asker, type WireScene } from './wire-scene.ts';
import { steady } from './steady.ts';

// To the byte: what upstreams are sent for each API of clients and each kind of backend, and what the clients get. Compared with what
// was recorded. `TEST_RECORD=1 npm test -- apps/gateway/tests/records` records it anew.

const CLIENTS: Readonly<Record<ClientName, MatrixClient>> = {
  chat: chatClient,
  responses: responsesClient,
  messages: messagesClient,
};
const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];
const KIND_NAMES = Object.keys(KINDS) as Kind[];
const HELLO = { system: 'Be brief.', messages: [{ role: 'user', text: 'Hello!' }] } as const;

let scene: WireScene;

beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const recorded = (name: string): URL => new URL(`recorded/${name}.jsonl`, import.meta.url);

/** What a client got, to the byte where that is the same in every run. */
interface Answer {
  readonly status: number;
  readonly headers: Fields;
  readonly text: string;
  /** Whether the connection broke before the end. */
  readonly isCut: boolean;
}

const post = (
  { url, key }: Asker,
  path: string,
  body: Fields,
  {
    headers = {},
    ...more
  }: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
    ...more,
  });

async function ask(
  asker: Asker,
  path: string,
  body: Fields,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await post(asker, path, body, { headers });
  const { text, isCut } = await readText(response);
  return {
    status: response.status,
    headers: steadyHeaders(Object.fromEntries(response.headers)),
    text,
    isCut,
  };
}

async function readText(response: Response): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += part.value;
    return { text, isCut: false };
  } catch {
    return { text, isCut: true };
  }
}

/** Of one cell: its name, what its upstream was sent and what its client got. */
interface Row {
  readonly sent: readonly object[];
  readonly got: object;
}
type Rows = ReadonlyMap<string, Row>;

/** Every kind has an upstream of its own, so that they are asked side by side. */
async function byKind(
  kinds: readonly Kind[],
  run: (kind: Kind, add: (cell: string, row: Row) => void) => Promise<void>,
): Promise<Rows> {
  const lanes = await Promise.all(
    kinds.map(async (kind) => {
      const rows: [string, Row][] = [];
      await run(kind, (cell, row) => rows.push([cell, row]));
      return rows;
    }),
  );
  return new Map(lanes.flat());
}

const steadyAnswer = ({ text, isCut, ...answer }: Answer): object => ({
  ...answer,
  text: steady(text),
  ...(isCut ? { isCut } : {}),
});

async function expectBoth(name: string, rows: Rows): Promise<void> {
  const sent = new Map([...rows].map(([cell, row]) => [cell, row.sent]));
  const got = new Map([...rows].map(([cell, row]) => [cell, row.got]));
  await expectRecorded(recorded(`${name}-upstream`), sent, { charsMax: CHARS_MAX });
  await expectRecorded(recorded(`${name}-client`), got, { charsMax: CHARS_MAX });
}
const CHARS_MAX = 4_000;

function wholeOf(client: ClientName, { headers, text }: Answer): Fields {
  if (!String(headers['content-type']).startsWith('text/event-stream'))
    return JSON.parse(text) as Fields;
  const datas = text.split('\n').filter((line) => line.startsWith('data: {'));
  return CLIENTS[client].joined(
    datas.map((line) => JSON.parse(line.slice('data: '.length)) as Fields),
  );
}

test.each(CLIENT_NAMES)('every feature, asked by %s', async (client) => {
  const api = CLIENTS[client];
  const features = FEATURES.filter(({ clients = CLIENT_NAMES }) => clients.includes(client));
  const rows = await byKind(KIND_NAMES, async (kind, add) => {
    for (const { name, asked, more, said, results } of features) {
      for (const stream of [false, true]) {
        const cell = `${kind}: ${name}${stream ? ', streamed' : ''}`;
        scene.upstream(kind).answer(said, { stream });
        const body = {
          ...api.write(asked),
          ...more,
          stream,
          model: 'm',
          provider: { only: [kind] },
        };
        const answer = await ask(scene.plain, api.path, body);
        add(cell, { sent: scene.sent(kind), got: steadyAnswer(answer) });
        if (results === undefined || answer.status !== 200) continue;
        scene.upstream(kind).answer(GREETING, { stream });
        const next = api.continued(body, wholeOf(client, answer), results);
        const last = await ask(scene.plain, api.path, next);
        add(`${cell}, continued`, { sent: scene.sent(kind), got: steadyAnswer(last) });
      }
    }
  });
  await expectBoth(client, rows);
});

test('fields of the gateway, memories, nulls, unknown fields', async () => {
  const rows = await byKind(KIND_NAMES, async (kind, add) => {
    for (const { name, client, body, isRemembered } of OWN_CELLS) {
      for (const stream of [false, true]) {
        scene.upstream(kind).answer(GREETING, { stream });
        const asker = isRemembered ? await scene.remembered() : scene.plain;
        const conversationId = await scene.newConversation(scene.plain);
        const fields = { ...body({ conversationId }), stream, provider: { only: [kind] } };
        const answer = await ask(asker, CLIENTS[client].path, { model: 'm', ...fields });
        const cell = `${client} to ${kind}: ${name}${stream ? ', streamed' : ''}`;
        add(cell, { sent: scene.sent(kind), got: steadyAnswer(answer) });
      }
    }
  });
  await expectBoth('own', rows);
});

test('a response that follows a stored one', async () => {
  const rows = await byKind(KIND_NAMES, async (kind, add) => {
    for (const stream of [false, true]) {
      scene.upstream(kind).answer(GREETING, { stream });
      const fields = { model: 'm', stream, provider: { only: [kind] } };
      const first = await ask(scene.plain, '/v1/responses', { ...fields, input: 'Hi' });
      scene.sent(kind);
      const { id } = wholeOf('responses', first);
      const more = { ...fields, input: 'And now?', previous_response_id: id };
      const answer = await ask(scene.plain, '/v1/responses', more);
      const cell = `${kind}${stream ? ', streamed' : ''}`;
      add(cell, { sent: scene.sent(kind), got: steadyAnswer(answer) });
    }
  });
  await expectBoth('stored', rows);
});

test.each(CLIENT_NAMES)('responses that are not what %s hopes for', async (client) => {
  const api = CLIENTS[client];
  const rows = await byKind(FAULTY_KINDS, async (kind, add) => {
    for (const { name, stream, response } of FAULTS) {
      for (const errors of ['specified', 'upstream']) {
        scene.wire(kind).respond(response(kind as FaultyKind));
        const body = { ...api.write(HELLO), stream, model: 'm', provider: { only: [kind] } };
        const answer = await ask(scene.plain, api.path, body, { 'x-service-errors': errors });
        const attempts = scene.sent(kind).length;
        const cell = `${kind}: ${name}${stream ? ', streamed' : ''}, errors as ${errors}`;
        add(cell, { sent: [], got: { ...steadyAnswer(answer), attempts } });
      }
    }
  });
  const got = new Map([...rows].map(([cell, row]) => [cell, row.got]));
  await expectRecorded(recorded(`${client}-faults`), got, { charsMax: CHARS_MAX });
});

test('a client that leaves in the middle is followed to the upstream', async () => {
  const rows = await byKind(FAULTY_KINDS, async (kind, add) => {
    for (const client of CLIENT_NAMES) {
      const upstream = scene.wire(kind);
      upstream.respond(unfinished(kind as FaultyKind));
      const api = CLIENTS[client];
      const body = { ...api.write(HELLO), stream: true, model: 'm', provider: { only: [kind] } };
      const leaving = new AbortController();
      const response = await post(scene.plain, api.path, body, { signal: leaving.signal });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('Goo')) text += (await reader?.read())?.value ?? '';
      leaving.abort();
      await upstream.received.at(-1)?.closed;
      add(`${client} to ${kind}`, {
        sent: scene.sent(kind),
        got: { status: response.status },
      });
    }
  });
  await expectBoth('leaving', rows);
});

const EMBEDDINGS: Partial<Record<Kind, Fields>> = {
  gemini: { embeddings: [{ values: [0.25, -0.5] }, { values: [1, 0] }] },
  'local-server': {
    model: 'm',
    embeddings: [
      [0.25, -0.5],
      [1, 0],
    ],
    prompt_eval_count: 3,
  },
};
const OPENAI_EMBEDDINGS = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [0.25, -0.5] },
    { object: 'embedding', index: 1, embedding: [1, 0] },
  ],
  model: 'm',
  usage: { prompt_tokens: 3, total_tokens: 3 },
};
const PLAIN_BODIES: readonly {
  readonly name: string;
  readonly path: string;
  readonly body: Fields;
}[] = [
  {
    name: 'completions',
    path: '/v1/completions',
    body: { prompt: 'Once', max_tokens: 9, echo: null },
  },
  { name: 'embeddings', path: '/v1/embeddings', body: { input: ['a', 'b'] } },
  {
    name: 'embeddings with options',
    path: '/v1/embeddings',
    body: {
      input: ['a', 'b'],
      dimensions: 2,
      encoding_format: 'float',
      user: 'someone',
      colour: 'red',
    },
  },
];

test('completions and embeddings', async () => {
  const kinds = KIND_NAMES.filter((kind) => kind !== 'engine');
  const rows = await byKind(kinds, async (kind, add) => {
    for (const { name, path, body } of PLAIN_BODIES) {
      const upstream = scene.wire(kind);
      if (name === 'completions') upstream.answer(GREETING, { stream: false });
      else {
        const text = JSON.stringify(EMBEDDINGS[kind] ?? OPENAI_EMBEDDINGS);
        upstream.respond({ status: 200, type: 'application/json', text });
      }
      const answer = await ask(scene.plain, path, {
        model: 'm',
        ...body,
        provider: { only: [kind] },
      });
      add(`${kind}: ${name}`, { sent: scene.sent(kind), got: steadyAnswer(answer) });
    }
  });
  await expectBoth('plain', rows);
});
