import type { Fields } from '../matrix/facts.ts';
import type { ClientName } from '../matrix/features.ts';

/** A request that shows what the gateway adds to a body, leaves out of it or passes on. */
export interface OwnCell {
  readonly name: string;
  readonly client: ClientName;
  readonly body: (scene: { readonly conversationId: string }) => Fields;
  /** Something is remembered of who asks. */
  readonly isRemembered: boolean;
}

const says = (content: unknown): Fields => ({ messages: [{ role: 'user', content }] });
const TEA = 'Which tea do I like?';
/** Fields that no API has. */
const UNKNOWN: Fields = { shoe_size: 42, nested: { deep: [1, null, { x: '' }] }, top_k: 5 };
const cell = (client: ClientName, name: string, body: Fields | OwnCell['body']): OwnCell => ({
  name,
  client,
  body: typeof body === 'function' ? body : () => body,
  isRemembered: name.startsWith('memories'),
});

const CALLED: Fields = {
  messages: [
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": "Rome" }' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'sunny' }] },
  ],
};

export const OWN_CELLS: readonly OwnCell[] = [
  cell('chat', 'nulls', {
    ...says('Hi'),
    temperature: null,
    top_p: null,
    tools: null,
    tool_choice: null,
    response_format: null,
    stop: null,
    max_tokens: null,
    stream_options: null,
    metadata: null,
    user: null,
    seed: null,
  }),
  cell('chat', 'options', {
    ...says('Hi'),
    temperature: 0.7,
    top_p: 0.9,
    stop: ['END', 'STOP'],
    max_completion_tokens: 50,
    presence_penalty: 0.1,
    user: 'someone',
    metadata: { run: '7' },
    parallel_tool_calls: false,
    service_tier: 'auto',
  }),
  cell('chat', 'unknown fields', { ...says('Hi'), ...UNKNOWN }),
  cell('chat', 'extra', {
    ...says('Hi'),
    temperature: 0.9,
    extra: { temperature: 0.3, top_k: 7, min_p: 0.1, model: 'other', stream: false },
  }),
  cell('chat', 'fields of the gateway', ({ conversationId }) => ({
    ...says('Hi'),
    conversation_id: conversationId,
    memory: false,
    models: ['m'],
  })),
  cell('chat', 'memories', says(TEA)),
  cell('chat', 'memories after a system message', {
    messages: [{ role: 'system', content: 'Be brief.' }, ...(says(TEA)['messages'] as object[])],
  }),
  cell('chat', 'with usage', { ...says('Hi'), stream_options: { include_usage: true } }),
  cell('chat', 'history with calls', CALLED),
  cell('chat', 'images beside a text', {
    messages: [{ role: 'user', content: 'Look', images: ['iVBORw0KGgo='] }],
  }),
  cell('chat', 'a developer message', {
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi', name: 'Ann' },
    ],
  }),
  cell('messages', 'nulls', {
    ...says('Hi'),
    max_tokens: 50,
    system: null,
    temperature: null,
    tools: null,
    tool_choice: null,
    metadata: null,
    stop_sequences: null,
    thinking: null,
  }),
  cell('messages', 'options', {
    ...says([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }]),
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    max_tokens: 50,
    temperature: 0.7,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ['END'],
    metadata: { user_id: 'someone' },
  }),
  cell('messages', 'thinking with a budget', {
    ...says('Hi'),
    max_tokens: 5_000,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
  }),
  cell('messages', 'unknown fields', { ...says('Hi'), max_tokens: 50, ...UNKNOWN }),
  cell('messages', 'fields of the gateway', ({ conversationId }) => ({
    ...says('Hi'),
    max_tokens: 50,
    conversation_id: conversationId,
    memory: false,
    models: ['m'],
  })),
  cell('messages', 'memories', { ...says(TEA), max_tokens: 50 }),
  cell('responses', 'nulls', {
    input: 'Hi',
    instructions: null,
    temperature: null,
    tools: null,
    tool_choice: null,
    metadata: null,
    previous_response_id: null,
    max_output_tokens: null,
    reasoning: null,
    text: null,
    store: false,
  }),
  cell('responses', 'options', {
    input: 'Hi',
    instructions: 'Be brief.',
    temperature: 0.7,
    top_p: 0.9,
    max_output_tokens: 50,
    metadata: { run: '7' },
    user: 'someone',
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    truncation: 'auto',
    store: false,
  }),
  cell('responses', 'unknown fields', { input: 'Hi', store: false, ...UNKNOWN }),
  cell('responses', 'fields of the gateway', ({ conversationId }) => ({
    input: 'Hi',
    store: false,
    conversation_id: conversationId,
    memory: false,
    models: ['m'],
  })),
  cell('responses', 'memories', { input: TEA, store: false }),
];
