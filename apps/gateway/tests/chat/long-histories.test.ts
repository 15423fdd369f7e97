import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

// What honest agents send is large. The limits that stop hostile requests let it pass, and whole.

const MODEL = 'm';
const CHARS_PER_TOKEN = 4;
const SESSION_TOKENS = 150_000;
const SESSION_TURNS = 300;
const SCREENSHOTS = 60;
const SCREENSHOT_BYTES = 380 * 1024;
const CHAIN_TURNS = 200;

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_MAX_BODY_BYTES: String(32 * 1024 * 1024),
  });
  upstream = await startChatUpstream({ models: [MODEL], answer: () => 'Understood.' });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

interface SentMessage {
  readonly role: string;
  readonly content: unknown;
}

async function send(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: MODEL, max_tokens: 100, ...body }),
  });
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  expect({ status: response.status, error: answer['error'] ?? null }).toEqual({
    status: 200,
    error: null,
  });
  return answer;
}

/** What the model got. */
const received = (): readonly SentMessage[] =>
  (upstream.lastRequest?.body as { readonly messages: readonly SentMessage[] } | undefined)
    ?.messages ?? [];

const textOf = (turn: number): string =>
  `turn ${turn} `.padEnd((SESSION_TOKENS * CHARS_PER_TOKEN) / SESSION_TURNS, 'word ');
const roleOf = (turn: number): string => (turn % 2 === 0 ? 'user' : 'assistant');
const said = Array.from({ length: SESSION_TURNS + 1 }, (_, turn) => ({
  role: roleOf(turn),
  content: textOf(turn),
}));

test.each([
  { path: 'chat/completions', body: { messages: said } },
  { path: 'messages', body: { messages: said } },
  {
    path: 'responses',
    body: { input: said.map((message) => ({ type: 'message', ...message })), store: false },
  },
])('a session of 150,000 tokens is served whole by /v1/$path', async ({ path, body }) => {
  await send(path, body);
  expect(received()).toHaveLength(said.length);
  expect(JSON.stringify(received().at(-1))).toContain(textOf(SESSION_TURNS));
  const characters = JSON.stringify(received()).length;
  expect(characters).toBeGreaterThanOrEqual(SESSION_TOKENS * CHARS_PER_TOKEN);
});

const data = (shot: number): string => `${shot}AAA`.slice(0, 4).repeat(SCREENSHOT_BYTES / 4);
const urlOf = (shot: number): string => `data:image/png;base64,${data(shot % 10)}`;
const shots = Array.from({ length: SCREENSHOTS }, (_, shot) => shot);

test.each([
  {
    path: 'chat/completions',
    body: {
      messages: shots.map((shot) => ({
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: urlOf(shot) } }],
      })),
    },
  },
  {
    path: 'messages',
    body: {
      messages: shots.map((shot) => {
        const source = { type: 'base64', media_type: 'image/png', data: data(shot % 10) };
        return { role: 'user', content: [{ type: 'image', source }] };
      }),
    },
  },
  {
    path: 'responses',
    body: {
      input: shots.map((shot) => ({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image_url: urlOf(shot) }],
      })),
    },
  },
])('60 screenshots are served whole by /v1/$path', async ({ path, body }) => {
  await send(path, body);
  const images = JSON.stringify(received()).split('data:image/png;base64,').slice(1);
  expect(images).toHaveLength(SCREENSHOTS);
  for (const image of images) expect(image.length).toBeGreaterThanOrEqual(SCREENSHOT_BYTES);
});

test('a chain of 200 turns is continued to its end', async () => {
  let last: string | undefined;
  for (let turn = 0; turn < CHAIN_TURNS; turn += 1) {
    const answer = await send('responses', {
      input: `question ${turn}`,
      ...(last === undefined ? {} : { previous_response_id: last }),
    });
    expect(answer['store']).toBe(true);
    last = String(answer['id']);
  }
  const messages = received();
  expect(messages).toHaveLength(2 * CHAIN_TURNS - 1);
  const questions = messages.filter(({ role }) => role === 'user');
  questions.forEach(({ content }, turn) =>
    expect(JSON.stringify(content)).toContain(`question ${turn}`),
  );
});
