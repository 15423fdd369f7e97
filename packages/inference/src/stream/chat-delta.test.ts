import { silentLog } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { deltasOf, type ChatDelta } from './chat-delta.ts';
import { readStream } from './read-stream.ts';
import { createStreamObserver } from './stream-observer.ts';

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const text = (content: string, index = 0) =>
  event({ model: 'm-1', choices: [{ index, delta: { content }, finish_reason: null }] });
const finish = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const DONE = 'data: [DONE]\n\n';

const cleanMessage = (message: string) => message.replace('secret', '***');

async function* bytesOf(parts: readonly (string | Buffer)[]) {
  for (const part of parts) yield Buffer.from(part);
}

async function read(...parts: readonly (string | Buffer)[]) {
  const observer = createStreamObserver({ keepsReply: true });
  const deltas: ChatDelta[] = [];
  let failure: unknown;
  try {
    const stream = { form: 'events', bytes: bytesOf(parts), cleanMessage } as const;
    const reading = { passesUsage: true, parsesAll: false, log: silentLog };
    const source = readStream(stream, { ...reading, passesEvents: false, observer });
    for (let got = await source.next(); got !== undefined; got = await source.next())
      if (!Buffer.isBuffer(got)) deltas.push(...got.flatMap(deltasOf));
  } catch (error) {
    failure = error;
  }
  return { observer, tokens: deltas.map(({ token }) => token), deltas, failure };
}

test('tokens come in order, however the bytes are split, and the observer gets the rest', async () => {
  const whole = Buffer.from(
    `: hello\n\n${text('Grüße ')}${text('世界')}${finish}${event({ choices: [], usage })}${DONE}`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (cuts) => {
      const at = [0, ...cuts.toSorted((one, other) => one - other), whole.length];
      const parts = at.slice(1).map((end, index) => whole.subarray(at[index], end));
      const { tokens, observer, failure } = await read(...parts);
      expect(failure).toBeUndefined();
      expect(tokens).toEqual(['Grüße ', '世界']);
      expect(observer.usage).toEqual(usage);
      expect([observer.finishReason, observer.model]).toEqual(['stop', 'm-1']);
      expect(observer.readReply().content).toBe('Grüße 世界');
    }),
  );
});

test('line ends of any kind and an end without its mark are understood', async () => {
  const { tokens, failure } = await read(text('a').replaceAll('\n', '\r\n'), finish.trimEnd());
  expect([tokens, failure]).toEqual([['a'], undefined]);
});

test('refusals and texts in parts are shown, and thoughts are not', async () => {
  const delta = (fields: object) => event({ choices: [{ index: 0, delta: fields }] });
  const thinking = [{ type: 'text', text: 'Hm.' }];
  const { tokens, observer } = await read(
    delta({ role: 'assistant', content: '', refusal: null }),
    delta({ content: [{ type: 'thinking', thinking }] }),
    delta({ content: [{ type: 'text', text: 'So: ' }] }),
    delta({ content: null, refusal: 'I cannot ' }),
    delta({ refusal: 'say.' }),
    finish,
    DONE,
  );
  expect(tokens).toEqual(['So: ', 'I cannot ', 'say.']);
  expect(observer.readReply().content).toBe('So: I cannot say.');
});

test('only the first choice is shown, and empty pieces are not', async () => {
  const { tokens, observer } = await read(text('a'), text('b', 1), text(''), finish, DONE);
  expect(tokens).toEqual(['a']);
  expect(observer.text).toBe('ab');
});

test('pieces of tool calls are passed on as they are', async () => {
  const tool_calls = [{ index: 0, id: 'c', function: { name: 'look', arguments: '' } }];
  const { deltas } = await read(event({ choices: [{ delta: { tool_calls } }] }), finish, DONE);
  expect(deltas).toEqual([{ token: '', toolCalls: tool_calls }]);
});

test.each([
  { why: 'is cut off', end: '', message: /before the answer was complete/ },
  {
    why: 'reports an error',
    end: event({ error: { message: 'no secret memory' } }),
    message: /^no \*\*\* memory$/,
  },
  {
    why: 'never ends an event',
    end: 'x'.repeat(17 * 1024 * 1024),
    message: /too large/,
    // It exceeds a limit of ours.
    isBackendAtFault: false,
  },
])('a stream that $why fails, after what came before', async (row) => {
  const { end, message, isBackendAtFault = true } = row;
  const { tokens, failure } = await read(text('a'), end);
  expect(tokens).toEqual(['a']);
  expect(failure).toMatchObject({
    message: expect.stringMatching(message),
    isBackendAtFault,
  });
});

test('an event that is no JSON is left out', async () => {
  const { tokens, failure } = await read(
    'data: {"half\n\ndata: {\ndata: half\n\n',
    text('a'),
    finish,
    DONE,
  );
  expect([tokens, failure]).toEqual([['a'], undefined]);
});
