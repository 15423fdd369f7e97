import { silentLog } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { createEventReader } from './event-reader.ts';
import { createStreamObserver } from './stream-observer.ts';

const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' } as const;
const chunk = (fields: object) => `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
const text = (content: string) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = chunk({
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

function reader(passesUsage = false, parsesAll = false) {
  const observer = createStreamObserver({ keepsReply: true });
  const garbage: string[] = [];
  const own = createEventReader({
    observer,
    passesUsage,
    head,
    parsesAll,
    log: { ...silentLog, warn: (_fields, message) => void garbage.push(message) },
  });
  return {
    observer,
    garbage,
    read: (...events: string[]) => own.read(Buffer.from(events.join(''))),
  };
}

test('plain events pass byte for byte, and their text is picked out', () => {
  const { observer, read } = reader();
  const events = [text('Hel'), text('lo "w\\o\nrld" é 😀'), text('')];
  expect(read(...events).passed.toString()).toBe(events.join(''));
  expect(observer.text).toBe('Hello "w\\o\nrld" é 😀');
  expect(observer.isFinished).toBe(false);
});

test('the chunk with the usage reaches the client only if it was requested', () => {
  const spared = reader();
  expect(spared.read(text('a'), finish, usage).passed.toString()).toBe(text('a') + finish);
  expect(spared.observer.usage).toEqual({
    prompt_tokens: 3,
    completion_tokens: 2,
    total_tokens: 5,
  });
  expect(spared.observer.isFinished).toBe(true);
  const asked = reader(true);
  expect(asked.read(usage).passed.toString()).toBe(usage);
});

test('no chunk has usage for a client that did not request it, not even null', () => {
  const last = chunk({
    choices: [{ index: 0, delta: { content: 'y' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const choices = [{ index: 0, delta: { content: 'x' }, finish_reason: null }];
  const nulls = [
    chunk({ choices, usage: null }),
    `data: ${JSON.stringify({ usage: null, ...head, choices })}\n\n`,
    `data: {"usage": null,${JSON.stringify({ ...head, choices, seq: 1 }).slice(1)}\n\n`,
  ];
  for (const withNull of nulls) {
    const { observer, read } = reader();
    const without = withNull.replace(/,"usage": ?null|"usage": ?null,/, '');
    // The second and third event are written like the first.
    expect(read(withNull, withNull, withNull, last).passed.toString()).toBe(
      without.repeat(3) + last.replace(/,"usage":\{.*?\}/, ''),
    );
    expect(observer.usage?.total_tokens).toBe(2);
    expect(observer.text).toBe('xxxy');
    expect(reader(true).read(withNull, withNull, last).passed.toString()).toBe(
      withNull + withNull + last,
    );
  }
});

test('the end mark is taken out and ends the reading', () => {
  const { read } = reader();
  expect(read(text('a'), 'data: [DONE]\n\n', text('b'))).toEqual({
    passed: Buffer.from(text('a')),
    isDone: true,
    error: undefined,
  });
});

test.each([
  ['data: {"error":{"message":"overloaded","type":"server_error"}}', 'overloaded'],
  ['data: {"error":"out of memory"}', 'out of memory'],
  ['data: {"error":{"status":500}}', '{"status":500}'],
  ['data: {"object":"error","message":"too long","code":400}', 'too long'],
  ['data: {"type":"error","code":"busy"}', 'the upstream reported an error'],
  ['event: error\ndata: {"message":"too long"}', 'too long'],
  ['event:error\ndata: {"error":{"message":"overloaded"}}', 'overloaded'],
  ['event: error\ndata: Internal Server Error', 'the upstream reported an error'],
  ['event: error', 'the upstream reported an error'],
  ['error: {"code":500,"message":"no memory"}', 'no memory'],
  ['data: {"choices":[{"finish_reason":"error","error":{"message":"timeout"}}]}', 'timeout'],
  [
    'data: {"choices":[{"finish_reason":"error","native_finish_reason":"MALFORMED"}]}',
    "the upstream ended the answer with 'MALFORMED'",
  ],
  ['data: {"choices":[{"finish_reason":"abort"}]}', "the upstream ended the answer with 'abort'"],
])('the error %j ends the reading', (event, message) => {
  const { read } = reader();
  expect(read(text('a'), `${event}\n\n`)).toEqual({
    passed: Buffer.from(text('a')),
    isDone: false,
    error: message,
  });
});

test('invalid JSON is logged and not passed on; comments are passed on', () => {
  const { garbage, read } = reader();
  expect(
    read(text('a'), 'data: {oops\n\n', ': ping\n\n', 'nonsense\n\n', text('b')).passed.toString(),
  ).toBe(`${text('a')}: ping\n\n${text('b')}`);
  expect(garbage).toEqual(['an upstream sent an event that is not JSON; it was dropped']);
});

test('a stream of events that are not JSON is reported once, and ended when there are many', () => {
  const { garbage, read } = reader();
  const events = 'data: x\n\n';
  expect(read(text('a'), events.repeat(100), text('b')).passed.toString()).toBe(
    text('a') + text('b'),
  );
  expect(garbage).toHaveLength(1);
  const { passed, error } = read(text('c'), events, text('d'));
  expect([passed.toString(), error]).toEqual([text('c'), 'too many events are not JSON']);
});

test('empty events are dropped, wherever they are', () => {
  const { read } = reader();
  const empty = '\n\n';
  const events = [empty, text('a'), empty, empty, ': wait\n\n', text('b'), text('c'), empty];
  expect(read(...events).passed.toString()).toBe(`${text('a')}: wait\n\n${text('b')}${text('c')}`);
});

test('other ways to write the same are understood', () => {
  const { observer, read } = reader();
  const rest = '"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"';
  const spaced = `data: {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": null}], ${rest}}\n\n`;
  const unspaced = `data:{"choices":[{"index":0,"delta":{"content":" there"},"finish_reason":null}],${rest}}\n\n`;
  expect(read(spaced, unspaced).passed.toString()).toBe(spaced + unspaced);
  expect(observer.text).toBe('hi there');
});

test('what an upstream leaves out of a chunk is added, and a chunk of several lines becomes one', () => {
  const { observer, read } = reader();
  const bare = 'data: {"id":"mine","choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n';
  const lines = `data: {"choices":[],\ndata: ${JSON.stringify(head).slice(1)}\n\n`;
  const { passed } = read(text('x'), bare, lines, text('y'));
  expect(passed.toString()).toBe(
    text('x') +
      `data: ${JSON.stringify({ ...head, id: 'mine', choices: [{ index: 0, finish_reason: null, delta: { content: 'a' } }] })}\n\n` +
      `data: ${JSON.stringify({ choices: [], ...head })}\n\n` +
      text('y'),
  );
  expect(observer.text).toBe('xay');
});

test('what an upstream leaves out of its choices is added', () => {
  const { observer, read } = reader();
  const choices = [{ delta: { content: 'a' } }, { delta: { content: 'b' }, finish_reason: 'stop' }];
  const added = [
    { index: 0, finish_reason: null, delta: { content: 'a' } },
    { index: 1, finish_reason: 'stop', delta: { content: 'b' } },
  ];
  expect(read(chunk({ choices })).passed.toString()).toBe(chunk({ choices: added }));
  expect(observer.isFinished).toBe(true);
  const unnumbered = [{ delta: { content: 'c' }, finish_reason: null }];
  const numbered = [{ index: 0, finish_reason: null, delta: { content: 'c' } }];
  expect(read(chunk({ choices: unnumbered })).passed.toString()).toBe(chunk({ choices: numbered }));
});

test('arguments of tool calls are text too', () => {
  const { observer, read } = reader();
  const call = chunk({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a"' } }] },
        finish_reason: null,
      },
    ],
  });
  read(call);
  expect(observer.text).toBe('f{"a"');
});

test.each([
  ['reasoning', { content: null, reasoning_content: 'abc' }],
  ['reasoning beside content', { content: 'a', reasoning: 'bc' }],
  ['a refusal', { content: '', refusal: 'abc' }],
  ['a function call', { function_call: { name: 'a', arguments: 'bc' } }],
  ['a custom tool call', { tool_calls: [{ custom: { name: 'a', input: 'bc' } }] }],
  ['a transcript', { audio: { transcript: 'abc' } }],
  ['parts', { content: [{ type: 'thinking', thinking: [{ text: 'ab' }] }, { text: 'c' }] }],
])('%s is text too, and passes unchanged', (_what, delta) => {
  const { observer, read } = reader();
  const event = chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  expect(read(text('x'), event).passed.toString()).toBe(text('x') + event);
  expect(observer.text).toBe('xabc');
});

test('two choices in one event are both text', () => {
  const { observer, read } = reader();
  const choice = (index: number, content: string) => ({
    index,
    delta: { content },
    finish_reason: null,
  });
  read(chunk({ choices: [choice(0, 'a'), choice(1, 'b')] }));
  expect(observer.text).toBe('ab');
});

test('of several choices the first is the reply, and all of them are billed', () => {
  const { observer, read } = reader(false, true);
  const choice = (index: number, content: string) =>
    chunk({ choices: [{ index, delta: { content }, finish_reason: null }] });
  const events = [choice(0, 'one '), choice(1, 'two '), choice(0, 'three')];
  expect(read(...events).passed.toString()).toBe(events.join(''));
  expect(observer.readReply().content).toBe('one three');
  expect(observer.text).toBe('one two three');
});

test('an event that begins and ends like those before it, with more between, is parsed', () => {
  const { observer, read } = reader();
  const [before, after] = text('|').split('|');
  const call = { id: 'c1', function: { name: 'look', arguments: '{}' } };
  const calls = JSON.stringify([{ index: 0, ...call }]);
  const more = `${before}a","tool_calls":${calls},"role":"assistant${after}`;
  const events = [text('one'), text(' two'), more, text(' three')];
  expect(read(...events).passed.toString()).toBe(events.join(''));
  expect(observer.readReply()).toMatchObject({ content: 'one twoa three', toolCalls: [call] });
});

test('an event whose text has a line break does not pass, also behind events like it', () => {
  const { observer, garbage, read } = reader();
  const [before, after] = text('|').split('|');
  const broken = `${before}a\ndata: [DONE]\ndata: b${after}`;
  const { passed, isDone } = read(text('one'), text(' two'), broken, text(' three'));
  expect(passed.toString()).toBe([text('one'), text(' two'), text(' three')].join(''));
  expect([isDone, garbage.length, observer.text]).toEqual([false, 1, 'one two three']);
});

test('the text of events is what was said, whatever it contains', () => {
  const content = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', '\\', '\n', '{"a":1}'),
  );
  fc.assert(
    fc.property(fc.array(content, { maxLength: 20 }), (contents) => {
      const { observer, read } = reader();
      for (const event of contents.map(text)) expect(read(event).passed.toString()).toBe(event);
      expect(observer.text).toBe(contents.join(''));
      expect(observer.readReply().content).toBe(contents.join(''));
    }),
  );
});

describe('for a reader of chunks', () => {
  const delta = (fields: object, index = 0) =>
    chunk({ choices: [{ index, delta: fields, finish_reason: null }] });
  function parts(pieces: readonly string[], parsesAll: boolean): string {
    let said = '';
    const reading = createEventReader({
      observer: createStreamObserver({ keepsReply: false }),
      passesUsage: true,
      head,
      parsesAll,
      onPart: ({ own, events }) => {
        said += own === undefined ? JSON.stringify(events) : partOf(own.value);
      },
      log: silentLog,
    });
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      reading.read(bytes);
    }
    return said;
  }
  /** The text of the first choice, and other chunks as they are. */
  const partOf = (one: unknown): string => {
    const [choice] = (one as { choices: { index: number; delta: { content?: string } }[] }).choices;
    const isText = choice?.index === 0 && Object.keys(choice.delta).join() === 'content';
    if (!isText) return JSON.stringify(one);
    const { content = '' } = choice.delta;
    return content === '' ? '' : JSON.stringify([{ type: 'text', text: content }]);
  };
  const event = fc.oneof(
    fc.string({ unit: 'grapheme' }).map(text),
    fc.constantFrom(
      delta({ content: 'other' }, 1),
      delta({ content: '', reasoning_details: [{ type: 'reasoning.text', signature: 's' }] }),
      delta({ content: '', tool_calls: [{ index: 0, function: { arguments: '"index":0' } }] }),
      delta({ content: '', reasoning_content: 'Hm' }),
      finish,
      usage,
    ),
  );

  test('texts and chunks are the same as if everything was parsed', () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(parts(events, false)).toBe(parts(events, true));
      }),
    );
  });
});
