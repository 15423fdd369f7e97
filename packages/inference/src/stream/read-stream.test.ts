import { chatParts } from '@model-gateway/dialects';
import { silentLog } from '@model-gateway/kernel';
import type { UpstreamStream } from '@model-gateway/router';
import { readStream, type Portion } from './read-stream.ts';
import { createStreamObserver } from './stream-observer.ts';

const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' } as const;
const token = {
  ...head,
  choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
};
const finish = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const failed = { error: { message: 'out of memory' } };
const eventOf = (chunk: object) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
/** What a client of chat completions gets of a portion. */
const textOf = (portion: Portion | undefined): string =>
  Buffer.isBuffer(portion)
    ? portion.toString()
    : (portion ?? []).map(({ own }) => eventOf(own?.value ?? {}).toString()).join('');
/** A part of an upstream that speaks chat completions. */
const partOf = (chunk: object) => chatParts()({ ...chunk });
const cleanMessage = (message: string) => `cleaned: ${message}`;
const TOO_LARGE = Buffer.alloc(17 * 1024 * 1024, 'x');
/** A quote in a comment does not hide them. */
const MANY_VALUES = Buffer.from(`: "\ndata: [${'{},'.repeat(1024 * 1024)}{}]\n\n`);

/** Yields its items one by one and then never ends; its `return` rejects. */
function endless<Item>(...items: readonly Item[]) {
  const state = { left: 0 };
  const given = items.values();
  const iterator: AsyncIterator<Item> = {
    next: () => {
      const item = given.next();
      return item.done === true
        ? new Promise(() => undefined)
        : Promise.resolve({ done: false, value: item.value });
    },
    return: () => {
      state.left += 1;
      return Promise.reject(new Error('the connection is gone'));
    },
  };
  return { state, stream: { [Symbol.asyncIterator]: () => iterator } };
}

const options = () => ({
  observer: createStreamObserver({ keepsReply: false }),
  passesEvents: true,
  passesUsage: false,
  head,
  parsesAll: false,
  log: silentLog,
});

test.each([
  ['an error of the upstream', eventOf(failed), 'cleaned: out of memory'],
  ['an event that has no end', TOO_LARGE, 'too large'],
  ['an event with many values', MANY_VALUES, 'an event has too many values'],
])('a stream of events is left after %s', async (_why, bytes, message) => {
  const { state, stream } = endless<Uint8Array>(eventOf(token), bytes);
  const reader = readStream({ form: 'events', bytes: stream, cleanMessage }, options());
  expect(await reader.next()).toEqual(eventOf(token));
  await expect(reader.next()).rejects.toThrow(message);
  expect(state.left).toBe(1);
});

test('comments before the first chunk wait for it, and those after it pass', async () => {
  const comment = Buffer.from(': waiting\n\n');
  const many = Buffer.from(`: ${'x'.repeat(4 * 1024)}\n\n`);
  const { stream } = endless<Uint8Array>(comment, many, comment, eventOf(token), comment);
  const reader = readStream({ form: 'events', bytes: stream, cleanMessage }, options());
  expect(await reader.next()).toEqual(Buffer.concat([comment, comment, eventOf(token)]));
  expect(await reader.next()).toEqual(comment);
});

test('comments before the first chunk pass at once to a client that takes them', async () => {
  const [early, late] = [Buffer.from(': early\n\n'), Buffer.from(': late\n\n')];
  const { stream } = endless<Uint8Array>(early, late, eventOf(token));
  const signs: string[] = [];
  const onSign = (comments: Buffer) => signs.push(comments.toString()) > 1;
  const reader = readStream(
    { form: 'events', bytes: stream, cleanMessage },
    { ...options(), onSign },
  );
  expect(await reader.next()).toEqual(Buffer.concat([early, eventOf(token)]));
  expect(signs).toEqual([': early\n\n', ': late\n\n']);
});

const role = {
  ...head,
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
};

describe.each([
  [
    'events',
    (...chunks: readonly object[]) => {
      const { stream } = endless<Uint8Array>(...chunks.map(eventOf));
      return readStream({ form: 'events', bytes: stream, cleanMessage }, options());
    },
  ],
  [
    'parts',
    (...chunks: readonly object[]) => {
      const { stream } = endless(...chunks.map(partOf));
      return readStream({ form: 'parts', parts: stream }, options());
    },
  ],
] as const)('a stream of %s begins with its first content', (_form, begin) => {
  const saying = (delta: object) => ({ ...head, choices: [{ index: 0, delta }] });
  const usage = { ...head, choices: [] };

  test.each([
    ['a text', { content: 'a' }],
    ['a thought', { reasoning_content: 'hm' }],
    ['a tool call', { tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] }],
    ['a refusal', { refusal: 'no' }],
    ['a picture', { images: [{ type: 'image_url' }] }],
  ])('which is %s; a role waits for it', async (_what, delta) => {
    const first = saying(delta);
    const text = textOf(await begin(role, usage, role, first, token).next());
    expect(text.match(/"assistant"/g)).toHaveLength(2);
    for (const value of Object.values(delta)) expect(text).toContain(JSON.stringify(value));
  });

  test('an error after the role is one before the first content', async () => {
    await expect(begin(role, failed).next()).rejects.toThrow('out of memory');
  });

  test('an answer that says nothing is whole', async () => {
    expect(textOf(await begin(role, finish).next())).toContain('"stop"');
  });

  test('roles without an end are not kept forever', async () => {
    const roles = Array.from({ length: 1_001 }, () => role);
    expect(textOf(await begin(...roles).next()).length).toBeGreaterThan(64 * 1024);
  });
});

describe('a stream with more text than can be kept', () => {
  const CHARS = 7 * 1024 * 1024;
  const long = {
    ...head,
    choices: [{ index: 0, delta: { content: 'a'.repeat(CHARS) }, finish_reason: null }],
  };
  const items = Array.from({ length: 6 }, () => long);
  const isLast = (count: number): boolean => (count + 1) * CHARS > 32 * 1024 * 1024;

  test.each([
    ['events', () => endless<Uint8Array>(...items.map(eventOf))],
    ['parts', () => endless(...items.map(partOf))],
  ] as const)('is left: %s', async (form, begin) => {
    const { state, stream } = begin();
    const source = (form === 'events'
      ? { form, bytes: stream, cleanMessage }
      : { form, parts: stream }) as unknown as UpstreamStream;
    const reader = readStream(source, options());
    for (let count = 0; !isLast(count); count += 1)
      expect(textOf(await reader.next()).length).toBeGreaterThan(CHARS);
    await expect(reader.next()).rejects.toThrow('more text than an answer may have');
    expect(state.left).toBe(1);
  });
});

test('a stream of parts is left after an error of the upstream', async () => {
  const { state, stream } = endless(partOf(token), partOf(failed));
  const reader = readStream({ form: 'parts', parts: stream }, options());
  expect(textOf(await reader.next())).toBe(eventOf(token).toString());
  await expect(reader.next()).rejects.toThrow('out of memory');
  expect(state.left).toBe(1);
});

test.each([
  { ending: 'an end', hasMark: false },
  { ending: 'an end mark', hasMark: true },
])('$ending is a failure in the middle of an answer, and none after its reason', async (row) => {
  async function* bytes(...parts: readonly Buffer[]): AsyncGenerator<Uint8Array> {
    yield* parts;
  }
  const ending = row.hasMark ? [Buffer.from('data: [DONE]\n\n')] : [];
  const readerOf = (...chunks: readonly object[]) =>
    readStream(
      { form: 'events', bytes: bytes(...chunks.map(eventOf), ...ending), cleanMessage },
      options(),
    );
  const cut = readerOf(token);
  await cut.next();
  await expect(cut.next()).rejects.toThrow('before the answer was complete');
  const whole = readerOf(token, finish);
  await whole.next();
  await whole.next();
  expect(await whole.next()).toBeUndefined();
});

test('parts that end without a reason are a failure, too', async () => {
  async function* parts(...all: readonly object[]) {
    for (const chunk of all) yield partOf(chunk);
  }
  const cut = readStream({ form: 'parts', parts: parts(token) }, options());
  await cut.next();
  await expect(cut.next()).rejects.toThrow('before the answer was complete');
  const whole = readStream({ form: 'parts', parts: parts(token, finish) }, options());
  await whole.next();
  await whole.next();
  expect(await whole.next()).toBeUndefined();
});
