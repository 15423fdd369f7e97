import * as fc from 'fast-check';
import { mutated, textOf } from './hostile.ts';
import { treeOf, type JsonTree } from './json-tree.ts';
import { completion, eventStream } from './upstream-body.ts';

/** The upstreams that do not speak chat completions, or do so on other paths. */
export type NativeKind = 'anthropic' | 'gemini' | 'azure' | 'responses';

/** What they answer, whole and as a stream. */
interface NativeBodies {
  readonly whole: fc.Arbitrary<string>;
  readonly stream: fc.Arbitrary<string>;
}

const tree = (values: fc.Arbitrary<unknown>): fc.Arbitrary<JsonTree> => values.map(treeOf);
const words = fc.string({ maxLength: 12 });
const tokens = fc.nat(1000);
const partOfJson = fc.constantFrom('{}', '{"a":', '1}', '');

const eventsOf = (
  events: readonly fc.Arbitrary<unknown>[],
  end: fc.Arbitrary<string>,
): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(
        fc.tuple(
          textOf(mutated(tree(fc.oneof(...events)))),
          fc.constantFrom('data: ', 'data:', 'event: x\ndata: '),
          fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\n', ''),
        ),
        { maxLength: 10 },
      ),
      end,
    )
    .map(([texts, last]) =>
      [...texts.map(([text, before, after]) => `${before}${text}${after}`), last].join(''),
    );

const ended = (last: object): fc.Arbitrary<string> =>
  fc.constantFrom(`data: ${JSON.stringify(last)}\n\n`, `data: ${JSON.stringify(last)}`, '');

/** The Messages API. */
const usage = fc.record({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
});
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: words }),
  fc.record({ type: fc.constant('thinking'), thinking: words, signature: words }),
  fc.record({ type: fc.constant('redacted_thinking'), data: words }),
  fc.record({ type: fc.constant('tool_use'), id: words, name: words, input: fc.constant({}) }),
);
const stopReason = fc.constantFrom('end_turn', 'max_tokens', 'tool_use', 'refusal', null);
const message = fc.record({
  id: words,
  type: fc.constant('message'),
  role: fc.constant('assistant'),
  model: words,
  content: fc.array(block, { maxLength: 3 }),
  stop_reason: stopReason,
  usage,
});
const index = fc.nat(2);
const blockDelta = fc.oneof(
  fc.record({ type: fc.constant('text_delta'), text: words }),
  fc.record({ type: fc.constant('thinking_delta'), thinking: words }),
  fc.record({ type: fc.constant('signature_delta'), signature: words }),
  fc.record({ type: fc.constant('input_json_delta'), partial_json: partOfJson }),
);
const messageEvents = [
  fc.record({ type: fc.constant('message_start'), message }),
  fc.record({ type: fc.constant('content_block_start'), index, content_block: block }),
  fc.record({ type: fc.constant('content_block_delta'), index, delta: blockDelta }),
  fc.record({ type: fc.constant('content_block_stop'), index }),
  fc.record({
    type: fc.constant('message_delta'),
    delta: fc.record({ stop_reason: stopReason }),
    usage,
  }),
  fc.constant({ type: 'ping' }),
  fc.constant({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
];

/** The API of Gemini. */
const part = fc.oneof(
  fc.record({ text: words, thought: fc.boolean() }),
  fc.record({
    functionCall: fc.record({ name: words, args: fc.constant({ a: 1 }) }),
    thoughtSignature: words,
  }),
);
const generated = fc.record(
  {
    candidates: fc.array(
      fc.record({
        content: fc.record({
          role: fc.constant('model'),
          parts: fc.array(part, { maxLength: 3 }),
        }),
        finishReason: fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'x'),
        index: fc.nat(1),
      }),
      { maxLength: 2 },
    ),
    promptFeedback: fc.record({ blockReason: fc.constantFrom('SAFETY', 'OTHER') }),
    usageMetadata: fc.record({
      promptTokenCount: tokens,
      candidatesTokenCount: tokens,
      thoughtsTokenCount: tokens,
      cachedContentTokenCount: tokens,
    }),
    modelVersion: words,
    responseId: words,
  },
  { requiredKeys: ['candidates'], noNullPrototype: true },
);

/** The Responses API. */
const item = fc.oneof(
  fc.record({
    id: words,
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    content: fc.array(fc.record({ type: fc.constant('output_text'), text: words }), {
      maxLength: 2,
    }),
  }),
  fc.record({
    id: words,
    type: fc.constant('function_call'),
    call_id: words,
    name: words,
    arguments: partOfJson,
  }),
  fc.record({
    id: words,
    type: fc.constant('reasoning'),
    summary: fc.array(fc.record({ type: fc.constant('summary_text'), text: words })),
  }),
);
const response = fc.record({
  id: words,
  object: fc.constant('response'),
  created_at: fc.nat(),
  status: fc.constantFrom('completed', 'incomplete', 'failed', 'in_progress'),
  model: words,
  output: fc.array(item, { maxLength: 3 }),
  usage: fc.record({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens }),
});
const at = { output_index: index, content_index: index, sequence_number: tokens };
const responseEvents = [
  fc.record({
    type: fc.constantFrom('response.created', 'response.completed', 'response.failed'),
    response,
  }),
  fc.record({
    type: fc.constantFrom('response.output_item.added', 'response.output_item.done'),
    item,
    ...at,
  }),
  fc.record({
    type: fc.constantFrom(
      'response.output_text.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
    ),
    delta: words,
    ...at,
  }),
  fc.constant({ type: 'error', code: 'server_error', message: 'failed' }),
];

/** By the kind of the upstream. */
export const NATIVE_BODIES: Readonly<Record<NativeKind, NativeBodies>> = {
  anthropic: {
    whole: textOf(mutated(tree(message))),
    stream: eventsOf(messageEvents, ended({ type: 'message_stop' })),
  },
  gemini: {
    whole: textOf(mutated(tree(generated))),
    stream: eventsOf(
      [generated],
      ended({ candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] }),
    ),
  },
  azure: { whole: textOf(mutated(completion)), stream: eventStream },
  responses: {
    whole: textOf(mutated(tree(response))),
    stream: eventsOf(
      responseEvents,
      ended({
        type: 'response.completed',
        response: { id: 'r', object: 'response', status: 'completed', output: [] },
      }),
    ),
  },
};
