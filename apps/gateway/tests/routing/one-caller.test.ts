import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  sendJson,
  startRelayUpstream,
  type RelayUpstream,
  type ReceivedRequest,
} from '../relay/relay-upstream.ts';

// Whatever one caller asks, a hundred times, the text chats of another one on the same backend go on, or are back after the pause
// of three failures.

const OPEN_MS = 1_000;
const TIMES = 100;
const AT_ONCE = 20;
/** For the chat itself, on a machine that is busy. */
const SLACK_MS = 2_000;

let gateway: GatewayUnderTest;
let upstream: RelayUpstream;
/** The key of the other caller. */
let other = '';

/** Answers as the request says, in its text: a status, a lost connection, or what cannot be read. */
async function answer({ path, body, response }: ReceivedRequest): Promise<void> {
  const text = String(await body);
  const asked = /answer (\w+)/.exec(text)?.[1] ?? '';
  const message = { role: 'assistant', content: 'Hello' };
  const choices = [{ index: 0, finish_reason: 'stop', message }];
  const whole = { object: 'chat.completion', model: 'm', created: 1, choices };
  if (asked === 'lost') return void response.destroy();
  if (asked === 'garbage') return void response.end('{no');
  if (asked === 'broken') {
    response.setHeader('content-type', 'text/event-stream');
    response.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
    return void response.end('data: {"error":{"message":"out of memory"}}\n\n');
  }
  const error = { error: { message: `The model does not exist: ${path}`, code: 'why' } };
  return asked === '' ? sendJson(response, whole) : sendJson(response, error, Number(asked));
}

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '1000000',
    SERVICE_BREAKER_OPEN_SECS: String(OPEN_MS / 1_000),
  });
  upstream = await startRelayUpstream({ models: ['m'] });
  upstream.answer(answer);
  const { users } = gateway.test.context.database;
  const email = 'other@example.com';
  const user = await users.create({ id: newId(), email, name: 'Other', passwordHash: 'not used' });
  other = (await keysOf(gateway.test).create({ userId: user.id, name: 'other' })).secret;
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});
// A registration begins with closed circuits.
beforeEach(async () => {
  const capabilities = ['chat', 'embeddings', 'completions', 'rerank', 'images', 'moderations'];
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url, capabilities });
});

const post = (path: string, body: object, key = gateway.key): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ model: 'm', ...body }),
  });

/** Whether the text chat of the other caller is answered. */
async function othersChat(): Promise<boolean> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await post('chat/completions', { messages }, other);
  await response.text();
  return response.status === 200;
}

interface Asked {
  readonly why: string;
  readonly path?: string;
  readonly body: object;
}

/** The connection of a stream that broke off stays open for a second, which nobody needs to await. */
async function readToFailure({ body }: Response): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) if (decoder.decode(bytes).includes('"error"')) return;
}

async function askOften({ path = 'chat/completions', body }: Asked, atOnce: number): Promise<void> {
  let left = TIMES;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await readToFailure(await post(path, body));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });
const says = (text: string) => ({ type: 'text', text });
const said = (text: string) => ({ messages: [{ role: 'user', content: text }] });
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const SOURCE = { type: 'base64', media_type: 'image/png', data: 'AA==' };
const AUDIO = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
const FILE = {
  type: 'file',
  file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
};
const TOOL = { id: 't', type: 'function', function: { name: 'look', arguments: '{}' } };

const HARMLESS: readonly Asked[] = [
  { why: 'an image', body: user(IMAGE, says('answer 500')) },
  { why: 'an image, streamed', body: { ...user(IMAGE, says('answer 503')), stream: true } },
  {
    why: 'an image that breaks the answer',
    body: { ...user(IMAGE, says('answer broken')), stream: true },
  },
  { why: 'an image whose answer is no JSON', body: user(IMAGE, says('answer garbage')) },
  { why: 'a sound', body: user(AUDIO, says('answer 500')) },
  { why: 'a file', body: user(FILE, says('answer 500')) },
  {
    why: 'an image among the results of a tool',
    body: {
      messages: [
        { role: 'user', content: 'answer 500' },
        { role: 'assistant', content: null, tool_calls: [TOOL] },
        { role: 'tool', tool_call_id: 't', content: [IMAGE] },
      ],
    },
  },
  {
    why: 'an image of a message',
    path: 'messages',
    body: { ...user({ type: 'image', source: SOURCE }, says('answer 500')), max_tokens: 9 },
  },
  {
    why: 'an image of a response',
    path: 'responses',
    body: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: IMAGE.image_url.url },
            { type: 'input_text', text: 'answer 500' },
          ],
        },
      ],
    },
  },
  { why: 'embeddings', path: 'embeddings', body: { input: 'answer 500' } },
  { why: 'embeddings that do not exist', path: 'embeddings', body: { input: 'answer 501' } },
  { why: 'a text completion', path: 'completions', body: { prompt: 'answer 500' } },
  { why: 'rerank', path: 'rerank', body: { query: 'answer 500', documents: ['d'] } },
  { why: 'images', path: 'images/generations', body: { prompt: 'answer 500' } },
  { why: 'moderations', path: 'moderations', body: { input: 'answer 500' } },
  { why: 'a tool without a name', body: { ...said('answer 500'), tools: [{ type: 'function' }] } },
  ...['400', '404', '422', '501'].map((status) => ({
    why: `a text that is answered with ${status}`,
    body: said(`answer ${status}`),
  })),
];

describe.each([1, AT_ONCE])(`${TIMES} times, %i at once`, (atOnce) => {
  test.each(HARMLESS)('$why takes nothing from another caller', async (asked) => {
    const attack = askOften(asked, atOnce);
    const during = await othersChat();
    await attack;
    expect([during, await othersChat(), await othersChat()]).toEqual([true, true, true]);
  });

  test.each<Asked>([
    { why: 'a text that fails', body: said('answer 500') },
    { why: 'a text whose answer breaks off', body: { ...said('answer broken'), stream: true } },
    { why: 'a text that loses the connection', body: said('answer lost') },
    { why: 'an image that loses the connection', body: user(IMAGE, says('answer lost')) },
    {
      why: 'embeddings that lose the connection',
      path: 'embeddings',
      body: { input: 'answer lost' },
    },
  ])('$why does so for the pause at most', async (asked) => {
    await askOften(asked, atOnce);
    const since = performance.now();
    await waitUntil(othersChat);
    expect(performance.now() - since).toBeLessThan(OPEN_MS + SLACK_MS);
    expect(await othersChat()).toBe(true);
  });
});
