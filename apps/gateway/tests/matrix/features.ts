import type { ModelRequest, Fields, Result, ModelAnswer } from './facts.ts';
import type { Kind } from './kinds.ts';

/** One thing that a request can ask for, and what an upstream answers. */
export interface Feature {
  /** As the document names it. */
  readonly name: string;
  readonly asked: ModelRequest;
  /** Further fields of a request, which only some APIs have. */
  readonly more?: Fields;
  readonly said: ModelAnswer;
  /** The results of the calls in the answer, which the next request has. */
  readonly results?: readonly Result[];
  /** The APIs that have it; all by default. */
  readonly clients?: readonly ClientName[];
  /** The kinds that refuse it, and the field that the message names. */
  readonly refused?: Partial<Record<Kind, string>>;
  /** The kinds that leave something out, for the document. */
  readonly partly?: Partial<Record<Kind, string>>;
  /** What the kinds name in `x-service-ignored`. */
  readonly ignored?: Partial<Record<Kind, string>>;
  /** The same for the next request, with the results. */
  readonly lost?: Partial<Record<Kind, string>>;
}

export type ClientName = 'chat' | 'responses' | 'messages';

const hello: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello!' }],
  maxTokens: 100,
};
const answer: ModelAnswer = {
  text: 'Good morning! How can I help you today? Just ask.',
  finish: 'stop',
  usage: { prompt: 20, completion: 12 },
};
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const tools = ['get_weather', 'get_time'].map((name) => ({
  name,
  description: `Calls ${name}.`,
  parameters: schema,
}));
const question = (
  media: NonNullable<Extract<ModelRequest['messages'][number], { role: 'user' }>['media']>,
) => ({
  ...hello,
  messages: [{ role: 'user' as const, text: 'What is this?', media }],
});
const TOOL_ERROR = 'tool_result.is_error';
const ONE_ANSWER = { anthropic: 'n', gemini: 'n', 'local-server': 'n', engine: 'n' };

/** Every feature; the document has a row for each. */
export const FEATURES: readonly Feature[] = [
  { name: 'text, system prompt', asked: hello, said: answer },
  {
    name: 'tools, parallel calls, results',
    asked: { ...hello, tools, effort: 'low', maxTokens: 5_000 },
    said: {
      ...answer,
      thought: { text: 'I look it up.', signature: 'c2ln' },
      text: 'One moment.',
      calls: [
        { id: 'call_1', name: 'get_weather', arguments: { city: 'Rome' }, signature: 'c2lnMg==' },
        { id: 'call_2', name: 'get_time', arguments: { city: 'Oslo' } },
      ],
      finish: 'tool_calls',
    },
    results: [
      { id: 'call_1', text: 'sunny' },
      { id: 'call_2', text: 'noon' },
    ],
  },
  {
    name: 'results of tools that failed',
    asked: { ...hello, tools },
    said: {
      finish: 'tool_calls',
      usage: answer.usage,
      calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Atlantis' } }],
    },
    results: [{ id: 'call_1', text: 'there is no such city', isError: true }],
    clients: ['messages'],
    lost: {
      external: TOOL_ERROR,
      azure: TOOL_ERROR,
      agent: TOOL_ERROR,
      'local-server': TOOL_ERROR,
      engine: TOOL_ERROR,
    },
  },
  {
    name: 'a tool that must be called',
    asked: { ...hello, tools, toolChoice: 'get_time' },
    said: {
      finish: 'tool_calls',
      usage: answer.usage,
      calls: [{ id: 'call_1', name: 'get_time', arguments: { city: 'Rome' } }],
    },
    ignored: { 'local-server': 'tool_choice' },
  },
  {
    name: 'image as base64',
    asked: question({ type: 'image', data: 'iVBORw0KGgo=' }),
    said: answer,
  },
  {
    name: 'image by URL',
    asked: question({ type: 'image', url: 'https://example.com/a.png' }),
    said: answer,
    refused: { 'local-server': 'messages.1.content.1' },
  },
  {
    name: 'PDF',
    asked: question({ type: 'document', data: 'JVBERi0xLjQ=' }),
    said: answer,
    refused: { 'local-server': 'messages.1.content.1' },
  },
  {
    name: 'audio',
    asked: question({ type: 'audio', data: 'UklGRg==' }),
    said: answer,
    clients: ['chat', 'responses'],
    refused: { anthropic: 'input_audio', 'local-server': 'messages.1.content.1' },
  },
  {
    name: 'JSON schema of the answer',
    asked: { ...hello, schema },
    said: { ...answer, text: '{"city":"Rome"}' },
  },
  {
    name: 'reasoning effort, thoughts',
    asked: { ...hello, effort: 'low', maxTokens: 5_000 },
    said: {
      ...answer,
      thought: { text: 'I greet back.', signature: 'c2ln' },
      usage: { prompt: 20, completion: 30, reasoning: 18 },
    },
    partly: { engine: 'no thoughts' },
  },
  {
    name: 'cached and reasoning tokens',
    asked: hello,
    said: { ...answer, usage: { prompt: 20, completion: 30, cached: 8, reasoning: 18 } },
    partly: { 'local-server': 'not reported' },
  },
  {
    name: 'end by `max_tokens`',
    asked: hello,
    said: { ...answer, finish: 'length' },
  },
  {
    name: 'end by a content filter',
    asked: hello,
    said: { ...answer, text: 'I begin to tell you how', finish: 'content_filter' },
    partly: { 'local-server': 'unknown there' },
  },
  {
    name: '`n` above 1',
    asked: hello,
    more: { n: 2 },
    said: answer,
    clients: ['chat'],
    refused: ONE_ANSWER,
  },
  {
    name: '`logprobs`',
    asked: hello,
    more: { logprobs: true },
    said: answer,
    clients: ['chat'],
    refused: { anthropic: 'logprobs', gemini: 'logprobs' },
  },
  {
    name: 'options of the sampling that not all have',
    asked: hello,
    more: { seed: 7, logit_bias: { 5: 1 }, frequency_penalty: 0.5 },
    said: answer,
    clients: ['chat'],
    ignored: { anthropic: 'frequency_penalty, logit_bias, seed', gemini: 'logit_bias' },
  },
];

/** The `refusal` of chat completions, which only servers of that API send. */
export const REFUSAL: Feature = {
  name: 'refusal',
  asked: hello,
  said: { refusal: 'I cannot help.', finish: 'stop', usage: answer.usage },
};
export const GREETING = { asked: hello, said: answer };
