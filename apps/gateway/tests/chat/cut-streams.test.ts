import Anthropic, { APIError as MessagesError } from '@anthropic-ai/sdk';
import { readStream } from '@model-gateway/testkit';
import OpenAI, { APIError } from 'openai';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';
import { startCutUpstream, type CutUpstream } from './cut-upstream.ts';

let gateway: GatewayUnderTest;
let upstream: CutUpstream;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '100000',
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '4000',
  });
  upstream = await startCutUpstream();
  const capabilities = ['chat', 'completions'];
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url, capabilities });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const head = { id: 'x', created: 1, model: 'cut' };
const DONE = 'data: [DONE]\n\n';
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
/** A piece of a chat, or of a text completion. */
const piece = (text: string, reason: string | null = null, index = 0): string =>
  event({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index, text, delta: { content: text }, finish_reason: reason }],
  });

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ask = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'cut', stream: true, ...body }),
  });
const chat = { path: 'chat/completions', body: { messages } };
const completion = { path: 'completions', body: { prompt: 'Hi' } };

const BEGUN = [piece('one'), piece(' two'), piece(' three')];
const ENDED_EARLY = /ended the stream before the answer was complete/;
const CUTS = [
  { why: 'an end', pieces: BEGUN, ending: 'end', message: ENDED_EARLY },
  { why: 'an end mark', pieces: [...BEGUN, DONE], ending: 'end', message: ENDED_EARLY },
  {
    why: 'an end mark after the end of one of two choices',
    pieces: [...BEGUN, piece('uno', null, 1), piece('', 'stop', 1), DONE],
    ending: 'end',
    message: ENDED_EARLY,
  },
  {
    why: 'an error',
    pieces: [...BEGUN, event({ error: { message: 'out of memory' } }), DONE],
    ending: 'end',
    message: /out of memory/,
  },
  {
    why: 'a reset',
    pieces: BEGUN,
    ending: 'silence',
    isReset: true,
    message: /closed|reset|terminated|abort/i,
  },
  { why: 'silence', pieces: BEGUN, ending: 'silence', message: /timeout/i },
] as const;

describe.each([chat, completion])('a stream of $path', ({ path, body }) => {
  test.each(CUTS)('that $why of the upstream cuts does not look whole', async (cut) => {
    upstream.answer(cut.pieces, cut.ending);
    const response = await ask(path, { ...body, n: 2 });
    // The gateway has got the pieces.
    if ('isReset' in cut) upstream.reset();
    const { text, isCut } = await readStream(response);
    const events = text.split('\n\n').filter((line) => line.startsWith('data: '));
    expect(isCut).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(events.filter((line) => line.startsWith('data: {"error"'))).toEqual(events.slice(-1));
    expect(JSON.parse(events.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code: 'bad_gateway', message: expect.stringMatching(cut.message) },
    });
    const [row] = await takeUsage(gateway.test.context.bus.journal, 1);
    expect(row).toMatchObject({ status: 502, completion_tokens: expect.any(Number) });
    expect(row?.completion_tokens).toBeGreaterThan(0);
  });

  test('that has a reason to end is whole, with and without an end mark', async () => {
    for (const end of [[], [DONE]]) {
      upstream.answer([...BEGUN, piece('', 'stop'), ...end], 'end');
      const { text, isCut } = await readStream(await ask(path, body));
      expect([isCut, text.endsWith(`\n\n${DONE}`), text.includes('"error"')]).toEqual([
        false,
        true,
        false,
      ]);
    }
    // Some upstreams send an empty reason with every chunk.
    upstream.answer([piece('one', ''), piece(' two', ''), DONE], 'end');
    expect((await readStream(await ask(path, body))).text.endsWith(DONE)).toBe(true);
    upstream.answer([piece('one', ''), piece(' two', '')], 'end');
    expect((await readStream(await ask(path, body))).isCut).toBe(true);
    await takeUsage(gateway.test.context.bus.journal, 4);
  });
});

/** The failure that a client raises while it reads a stream. */
async function failureOf(reading: () => Promise<AsyncIterable<unknown>>): Promise<unknown> {
  try {
    for await (const _ of await reading());
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the message of an interrupted stream is what the official clients raise', () => {
  const BROKEN = [...BEGUN, event({ error: { message: 'out of memory' } })];
  beforeEach(() => upstream.answer(BROKEN, 'end'));
  afterEach(() => takeUsage(gateway.test.context.bus.journal, 1));

  test('chat', async () => {
    const failure = await failureOf(() =>
      openai.chat.completions.create({ model: 'cut', messages, stream: true }),
    );
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: 'bad_gateway', message: 'out of memory' });
  });

  test('completions', async () => {
    const failure = await failureOf(() =>
      openai.completions.create({ model: 'cut', prompt: 'Hi', stream: true }),
    );
    expect(failure).toMatchObject({ message: 'out of memory' });
  });

  test('responses, which end with their own events and without an end mark', async () => {
    const { text, isCut } = await readStream(await ask('responses', { input: 'Hi' }));
    expect([isCut, text.includes('[DONE]')]).toEqual([false, false]);
    expect(text).toContain('event: response.failed');
    expect(text).toContain('out of memory');
  });

  test('messages, which end with their own event', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
    const failure = await failureOf(() =>
      client.messages.create({ model: 'cut', max_tokens: 9, messages, stream: true }),
    );
    expect(failure).toBeInstanceOf(MessagesError);
    expect(String(failure)).toContain('out of memory');
  });
});
