import * as fc from 'fast-check';
import { mutated, textOf } from './hostile.ts';
import { objectTree, rawTree, treeOf, type JsonTree } from './json-tree.ts';
import { cuts, onTheWire, type WireText } from './wire-text.ts';

/** How an upstream answers over HTTP. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly breaks: boolean;
}

const words = fc.string({ maxLength: 12 });
const tokens = fc.nat(1000);

export const usage = fc.record(
  {
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: tokens,
    prompt_tokens_details: fc.record({ cached_tokens: tokens }),
  },
  { requiredKeys: ['prompt_tokens', 'completion_tokens'], noNullPrototype: true },
);

const toolCalls = fc.array(
  fc.record({
    index: fc.nat(3),
    id: words,
    type: fc.constant('function'),
    function: fc.record({ name: words, arguments: fc.constantFrom('{}', '{"a":', '') }),
  }),
  { maxLength: 2 },
);

/** A message, or a part of one. */
export const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: words,
    reasoning_content: words,
    tool_calls: toolCalls,
  },
  { requiredKeys: ['role', 'content'], noNullPrototype: true },
);

const finish = fc.constantFrom('stop', 'length', 'tool_calls', null);
const head = { id: fc.constant('c1'), created: fc.nat(), model: fc.constant('fuzz-external') };

const tree = (values: fc.Arbitrary<unknown>): fc.Arbitrary<JsonTree> => values.map(treeOf);

/** A chat completion. */
export const completion = tree(
  fc.record({
    ...head,
    object: fc.constant('chat.completion'),
    choices: fc.tuple(fc.record({ index: fc.constant(0), message, finish_reason: finish })),
    usage,
  }),
);

const chunk = tree(
  fc.record({
    ...head,
    object: fc.constant('chat.completion.chunk'),
    choices: fc.array(fc.record({ index: fc.nat(1), delta: message, finish_reason: finish }), {
      maxLength: 2,
    }),
    usage: fc.option(usage),
  }),
);

const errorEvent = fc.constant(treeOf({ error: { message: 'out of memory', code: 500 } }));

const eventText = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: textOf(mutated(chunk)) },
      { weight: 1, arbitrary: textOf(mutated(errorEvent)) },
    ),
    fc.constantFrom(
      'data: ',
      'data:',
      'event: x\ndata: ',
      ': comment\n\ndata: ',
      'id: 1\nretry: 1\ndata: ',
    ),
    fc.constantFrom('\n\n', '\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n', ''),
  )
  .map(([text, before, after]) => `${before}${text}${after}`);

/** An event stream of chunks. */
export const eventStream = fc
  .tuple(
    fc.array(eventText, { maxLength: 8 }),
    fc.constantFrom('data: [DONE]\n\n', 'data: [DONE]\n\n', 'data: [DONE]', ''),
  )
  .map(([events, end]) => `${events.join('')}${end}`);

const embeddings = tree(
  fc.record({
    object: fc.constant('list'),
    data: fc.array(
      fc.record({
        index: fc.nat(2),
        embedding: fc.array(fc.double({ noNaN: true }), { maxLength: 4 }),
      }),
      { maxLength: 3 },
    ),
    usage,
  }),
);

const localLine = tree(
  fc.record(
    {
      model: fc.constant('fuzz-local'),
      message: fc.record(
        { role: fc.constant('assistant'), content: words, thinking: words, tool_calls: toolCalls },
        { requiredKeys: ['role', 'content'], noNullPrototype: true },
      ),
      done: fc.boolean(),
      done_reason: fc.constantFrom('stop', 'length'),
      prompt_eval_count: tokens,
      eval_count: tokens,
    },
    { requiredKeys: ['message', 'done'], noNullPrototype: true },
  ),
);

const localStream = fc
  .tuple(
    fc.array(
      fc.tuple(textOf(mutated(localLine)), fc.constantFrom('\n', '\n', '\r\n', '\n\n', '')),
      { maxLength: 8 },
    ),
    fc.constantFrom(
      '{"done":true,"message":{"role":"assistant","content":""}}\n',
      '{"error":"oom"}\n',
      '',
    ),
  )
  .map(([lines, end]) => `${lines.flat().join('')}${end}`);

const localEmbeddings = tree(
  fc.record({
    embeddings: fc.array(fc.array(fc.double({ noNaN: true }), { maxLength: 4 }), { maxLength: 3 }),
    prompt_eval_count: tokens,
  }),
);

const BODIES = {
  'external chat': textOf(mutated(completion)),
  'external stream': eventStream,
  'external embeddings': textOf(mutated(embeddings)),
  'local chat': textOf(mutated(localLine)),
  'local stream': localStream,
  'local embeddings': textOf(mutated(localEmbeddings)),
};

export type UpstreamOperation = keyof typeof BODIES;
export const UPSTREAM_OPERATIONS = Object.keys(BODIES) as UpstreamOperation[];

/** An error that quotes the key of the upstream. */
const errorBody = fc.constantFrom(
  '{"error":{"message":"wrong key {{upstream_key}}","type":"{{upstream_key}}","code":"x"}}',
  '{"error":"wrong key {{upstream_key}}"}',
  '{"message":"wrong key {{upstream_key}}"}',
  '{"error":{"message":"line\\nline\\u0000\\u001b[31m {{upstream_key}}"}}',
  'wrong key {{upstream_key}}',
  '<html>{{upstream_key}}</html>',
  '',
  '[]',
);
const longError = fc
  .integer({ min: 1, max: 60_000 })
  .map((count) => writeError('\u0001'.repeat(count)));

const writeError = (text: string): string => JSON.stringify({ error: { message: text } });

const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'text/event-stream',
  'application/x-ndjson',
  'text/html',
);

/** Answers with a body of this grammar, and errors. */
export function answersWith(
  body: fc.Arbitrary<string>,
  usualType: string,
): fc.Arbitrary<UpstreamAnswer> {
  const end = fc.record({
    cuts,
    breaks: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  });
  const success = fc.record({
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(201, 204, 206, 302) },
    ),
    contentType: fc.oneof({ weight: 4, arbitrary: fc.constant(usualType) }, contentType),
    body: onTheWire(body),
    end,
  });
  const failure = fc.record({
    status: fc.constantFrom(400, 401, 404, 418, 429, 500, 503, 599),
    contentType,
    body: fc.oneof({ weight: 4, arbitrary: errorBody }, longError).map((text) => ({ text })),
    end,
  });
  return fc
    .oneof({ weight: 6, arbitrary: success }, { weight: 1, arbitrary: failure })
    .map(({ end: ending, ...answer }) => ({ ...answer, ...ending }));
}

/** What an upstream answers to an operation. */
export const answersTo = (operation: UpstreamOperation): fc.Arbitrary<UpstreamAnswer> =>
  answersWith(
    BODIES[operation],
    operation === 'external stream' ? 'text/event-stream' : 'application/json',
  );

const fields = (values: Readonly<Record<string, unknown>>): JsonTree =>
  objectTree(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, treeOf(value)])),
  );

const taskId = fc.constantFrom('"t1"', '7').map(rawTree);
const submitted = taskId.map((id) =>
  objectTree({ task_id: id, base_resp: fields({ status_code: 0 }) }),
);
const task = fc
  .record({
    status: fc.constantFrom('Preparing', 'Queueing', 'Processing', 'Success', 'Success', 'Fail'),
    file_id: fc.constantFrom('f1', 7),
    progress: fc.nat(120),
    error: fc.constantFrom('no GPU', undefined),
    video_width: fc.nat(4000),
  })
  .map(fields);
const file = fc.constant(treeOf({ file: { download_url: 'https://files.example/f1.mp4' } }));

/** What a video API answers to its three calls. */
export const VIDEO_ANSWERS = {
  submit: answersWith(textOf(mutated(submitted)), 'application/json'),
  query: answersWith(textOf(mutated(task)), 'application/json'),
  file: answersWith(textOf(mutated(file)), 'application/json'),
};
