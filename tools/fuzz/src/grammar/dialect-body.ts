import * as fc from 'fast-check';
import { treeOf, type JsonTree } from './json-tree.ts';

const words = fc.string({ maxLength: 12 });
const id = fc.constantFrom('a', 'b', 'call_1', 'resp_0', '', '{{response_id}}', '{{item_id}}');
/** The same stored item, named many times. */
const references = fc
  .integer({ min: 1, max: 500 })
  .map((count) =>
    Array.from({ length: count }, () => ({ type: 'item_reference', id: '{{item_id}}' })),
  );
const name = fc.constantFrom('look_up', 'f', 'web_search', 'shell', '');
const schema = fc.constantFrom<object>(
  { type: 'object', properties: { a: { type: 'string' } } },
  { $ref: '#' },
  { anyOf: [] },
  {},
);
const json = fc.constantFrom('{"a":1}', '{}', '{"a":', '', '[]');
const image = fc.constantFrom(
  'data:image/png;base64,iVBORw0KGgo=',
  'https://example.com/a.png',
  'data:,',
);
const model = fc.constantFrom(
  '{{model}}',
  'fuzz-local',
  'fuzz-anthropic',
  'fuzz-gemini',
  'fuzz-azure',
  'fuzz-responses',
  'fuzz-engine',
);

/** An object with its required fields and some of the others. */
const some = (
  required: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  optional: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<unknown> =>
  fc.record(
    { ...required, ...optional },
    { requiredKeys: Object.keys(required), noNullPrototype: true },
  );
const typed = (type: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}) =>
  some({ type: fc.constant(type), ...fields });
const few = (items: fc.Arbitrary<unknown>) => fc.array(items, { maxLength: 4 });

/** The Responses API. */
const part = fc.oneof(
  typed('input_text', { text: words }),
  typed('output_text', { text: words, annotations: few(words) }),
  typed('refusal', { refusal: words }),
  typed('input_image', { image_url: image, detail: fc.constantFrom('low', 'high', 'auto') }),
  typed('input_file', { file_data: image, filename: words }),
  typed('input_file', { file_id: id }),
  typed('input_audio', { input_audio: some({ data: words, format: words }) }),
);
const item = fc.oneof(
  some(
    {
      role: fc.constantFrom('user', 'assistant', 'system', 'developer'),
      content: fc.oneof(words, few(part)),
    },
    { type: fc.constant('message'), id, status: fc.constant('completed') },
  ),
  typed('function_call', { call_id: id, name, arguments: json }),
  typed('function_call_output', { call_id: id, output: fc.oneof(words, few(part)) }),
  typed('custom_tool_call', { call_id: id, name, input: words }),
  typed('custom_tool_call_output', { call_id: id, output: words }),
  typed('local_shell_call', {
    call_id: id,
    action: some({ type: fc.constant('exec'), command: few(words) }),
  }),
  typed('local_shell_call_output', { id, output: words }),
  typed('reasoning', {
    id,
    summary: few(typed('summary_text', { text: words })),
    encrypted_content: words,
  }),
  typed('item_reference', { id }),
  typed('web_search_call', { id, status: words }),
  typed('x', { id }),
);
const responsesTool = fc.oneof(
  typed('function', { name, parameters: schema, strict: fc.boolean() }),
  typed('custom', { name, format: fc.constantFrom({ type: 'text' }, { type: 'grammar' }) }),
  typed('namespace', { name, tools: few(typed('function', { name, parameters: schema })) }),
  typed('local_shell'),
  typed('web_search'),
  typed('file_search', { vector_store_ids: few(id) }),
  typed('mcp', { server_label: words, server_url: image }),
  typed('image_generation'),
);
const toolChoice = fc.oneof(
  fc.constantFrom('auto', 'none', 'required', 'any'),
  typed('function', { name }),
  typed('custom', { name }),
  typed('web_search'),
  typed('allowed_tools', {
    mode: fc.constantFrom('auto', 'required'),
    tools: few(typed('function', { name })),
  }),
);
const response = some(
  { model, input: fc.oneof(words, few(item), few(item), references) },
  {
    instructions: words,
    tools: few(responsesTool),
    tool_choice: toolChoice,
    parallel_tool_calls: fc.boolean(),
    text: some({ format: fc.oneof(typed('text'), typed('json_schema', { name, schema })) }),
    reasoning: some({ effort: fc.constantFrom('low', 'xhigh', 'none'), summary: words }),
    max_output_tokens: fc.integer({ min: 1, max: 100 }),
    metadata: fc.dictionary(words, words, { maxKeys: 3 }),
    store: fc.boolean(),
    stream: fc.boolean(),
    previous_response_id: id,
    include: few(words),
    truncation: fc.constantFrom('auto', 'disabled'),
  },
);

/** The Messages API. */
const source = fc.oneof(
  typed('base64', {
    media_type: fc.constantFrom('image/png', 'application/pdf', 'x'),
    data: words,
  }),
  typed('url', { url: image }),
  typed('text', { media_type: fc.constant('text/plain'), data: words }),
  typed('file', { file_id: id }),
);
const plainBlock = fc.oneof(
  typed('text', { text: words, cache_control: typed('ephemeral') }),
  typed('image', { source }),
  typed('document', { source, title: words, citations: some({ enabled: fc.boolean() }) }),
);
const block = fc.oneof(
  plainBlock,
  typed('tool_use', { id, name, input: schema }),
  typed('tool_result', {
    tool_use_id: id,
    content: fc.oneof(words, few(plainBlock)),
    is_error: fc.boolean(),
  }),
  typed('thinking', { thinking: words, signature: words }),
  typed('redacted_thinking', { data: words }),
  typed('server_tool_use', { id, name, input: schema }),
  typed('search_result', { source: words, title: words, content: few(plainBlock) }),
);
const messagesTool = fc.oneof(
  some({ name, input_schema: schema }, { description: words, defer_loading: fc.boolean() }),
  typed('custom', { name, input_schema: schema }),
  typed('web_search_20250305', { name }),
  typed('bash_20250124', { name }),
);
const message = some(
  {
    model,
    max_tokens: fc.integer({ min: 1, max: 100 }),
    messages: few(
      some({
        role: fc.constantFrom('user', 'assistant', 'system'),
        content: fc.oneof(words, few(block)),
      }),
    ),
  },
  {
    system: fc.oneof(words, few(typed('text', { text: words }))),
    stream: fc.boolean(),
    stop_sequences: few(words),
    tools: few(messagesTool),
    tool_choice: fc.oneof(
      typed('auto', { disable_parallel_tool_use: fc.boolean() }),
      typed('any'),
      typed('none'),
      typed('tool', { name }),
    ),
    thinking: fc.oneof(typed('enabled', { budget_tokens: fc.nat(100) }), typed('adaptive')),
    output_config: some({}, { effort: words, format: typed('json_schema', { schema }) }),
    metadata: some({ user_id: words }),
    context_management: some({ edits: few(words) }),
    mcp_servers: few(typed('url', { url: image })),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
  },
);

const trees = (values: fc.Arbitrary<unknown>): fc.Arbitrary<JsonTree> => values.map(treeOf);

/** The bodies of the APIs that are translated, by their paths. */
export const DIALECT_BODIES: Readonly<Record<string, fc.Arbitrary<JsonTree>>> = {
  '/v1/responses': trees(response),
  '/v1/responses/input_tokens': trees(response),
  '/v1/messages': trees(message),
  '/v1/messages/count_tokens': trees(message),
};
