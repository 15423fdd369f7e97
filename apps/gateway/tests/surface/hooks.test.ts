import { ServiceError, type AnswerPart } from '@model-gateway/contracts';
import type { Hook } from '@model-gateway/inference';
import { startGateway, type GatewayUnderTest } from '../gateway.ts';
import { GREETING } from '../matrix/features.ts';
import type { ModelAnswer } from '../matrix/facts.ts';
import { KINDS, type Kind } from '../matrix/kinds.ts';
import { registerKind } from '../matrix/register-kind.ts';
import type { MatrixUpstream } from '../matrix/upstreams/wire-server.ts';

/** Of the text of `GREETING`. */
const END = 'ask.';
const SYSTEM = 'The code word is swordfish.';
const QUESTION = 'Look for a swordfish!';
const RESULT = 'One swordfish was found.';
const FOUND = { name: 'look', arguments: '{}' };

/** The same conversation in each API. */
const CLIENTS = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: [{ type: 'text', text: QUESTION }] },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: FOUND }] },
        { role: 'tool', tool_call_id: 'c1', content: RESULT },
      ],
    },
  },
  responses: {
    path: '/v1/responses',
    body: {
      instructions: SYSTEM,
      input: [
        { role: 'user', content: [{ type: 'input_text', text: QUESTION }] },
        { type: 'function_call', call_id: 'c1', ...FOUND },
        { type: 'function_call_output', call_id: 'c1', output: RESULT },
      ],
    },
  },
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 100,
      system: [{ type: 'text', text: SYSTEM }],
      messages: [
        { role: 'user', content: QUESTION },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [{ type: 'text', text: RESULT }],
            },
            {
              type: 'document',
              title: 'On swordfish',
              source: { type: 'text', media_type: 'text/plain', data: 'A swordfish swims.' },
            },
          ],
        },
      ],
    },
  },
};
const CLIENT_NAMES = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];
const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** Hides a word from every model, and tells it something. */
const hiding: Hook = {
  async before(call) {
    call.changeTexts(({ text }) => text.replaceAll('swordfish', 'unknown'));
    call.insert([{ role: 'system', content: 'Words are hidden.' }]);
    return undefined;
  },
};

const textOf = (parts: readonly AnswerPart[]): string =>
  parts
    .flatMap(({ events }) => events)
    .map((event) => (event.type === 'text' ? event.text : ''))
    .join('');

/** Holds each answer back until it is whole, and breaks it off where it says a word. */
const looking: Hook = {
  before: async () => ({
    window: {
      async look(held, isLast) {
        looks.push({ text: textOf(held), isLast });
        if (textOf(held).includes('forbidden'))
          throw new ServiceError('invalid_request', 'the answer is not allowed');
        return 0;
      },
    },
  }),
};
const looks: { readonly text: string; readonly isLast: boolean }[] = [];

let gateway: GatewayUnderTest;
const upstreams = new Map<Kind, MatrixUpstream>();

beforeAll(async () => {
  gateway = await startGateway(
    { SERVICE_API_RATE_LIMIT_RPM: '100000' },
    {},
    { hooks: [hiding, looking] },
  );
  for (const kind of KIND_NAMES) {
    const upstream = await KINDS[kind].start();
    upstreams.set(kind, upstream);
    await registerKind(gateway, kind, upstream);
  }
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

const rows = CLIENT_NAMES.flatMap((client) =>
  KIND_NAMES.flatMap((kind) => [false, true].map((stream) => ({ client, kind, stream }))),
);

/** Asks a kind of backend that says something. */
async function ask(
  { client, kind, stream }: (typeof rows)[number],
  said: ModelAnswer,
): Promise<{ readonly status: number; readonly text: string; readonly sent: string }> {
  const upstream = upstreams.get(kind);
  upstream?.answer(said, { stream });
  const response = await fetch(`${gateway.url}${CLIENTS[client].path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({
      ...CLIENTS[client].body,
      stream,
      model: 'm',
      provider: { only: [kind] },
    }),
  });
  const parts: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
  try {
    for await (const part of reader) parts.push(part);
  } catch {
    // An answer that is not whole breaks off.
  }
  const sent = JSON.stringify(upstream?.requests.at(-1));
  return { status: response.status, text: parts.join(''), sent };
}

test.each(rows)(
  'what a hook changes in a request of $client reaches $kind (streamed: $stream)',
  async (row) => {
    looks.length = 0;
    const { status, text, sent } = await ask(row, GREETING.said);
    expect([status, text]).toEqual([200, expect.stringContaining(END)]);
    // Nothing was held back in vain, and the whole answer was seen.
    expect(looks.at(-1)).toEqual({ text: GREETING.said.text, isLast: true });
    const texts = [
      'The code word is unknown.',
      'Look for a unknown!',
      'One unknown was found.',
      'Words are hidden.',
    ];
    for (const said of texts) expect(sent.split(said)).toHaveLength(2);
    expect(sent).not.toContain('swordfish');
  },
);

test.each(rows)(
  'an answer of $kind that a hook does not let go does not reach a client of $client (streamed: $stream)',
  async (row) => {
    const { status, text } = await ask(row, { ...GREETING.said, text: 'This is forbidden fruit.' });
    expect(status).toBe(row.stream ? 200 : 400);
    expect(text).toContain('the answer is not allowed');
    expect(text).not.toContain('fruit');
  },
);
