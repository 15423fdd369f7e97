import type { ChatRequest } from '@model-gateway/contracts';
import { upstreamBody } from './chat-turn.ts';

const messages: ChatRequest['messages'] = [{ role: 'user', content: 'Hi' }];

test('what the client sent is forwarded, under the id that the backend lists', () => {
  expect(
    upstreamBody({ model: 'm', messages, top_p: 0.5, stop: ['x'], tools: [] }, 'm:latest'),
  ).toEqual({
    model: 'm:latest',
    messages,
    top_p: 0.5,
    stop: ['x'],
    tools: [],
  });
});

test('what is ours, and what is null, stays here', () => {
  const request = {
    model: 'm',
    messages,
    conversation_id: 'c',
    memory: true,
    provider: 'p',
    temperature: null,
  };
  expect(upstreamBody(request, 'm')).toEqual({ model: 'm', messages });
});

test('extra adds fields and overrides none', () => {
  const extra = {
    top_k: 7,
    top_p: 1,
    model: 'other',
    messages: [],
    stream: true,
    temperature: 2,
    max_tokens: 1,
    options: {},
    provider: 'x',
  };
  expect(upstreamBody({ model: 'm', messages, top_p: 0.5, extra }, 'm')).toEqual({
    model: 'm',
    messages,
    top_p: 0.5,
    top_k: 7,
  });
});

test.each(['text', 7, null, ['a']])('extra that is %p is ignored', (extra) => {
  expect(upstreamBody({ model: 'm', messages, extra }, 'm')).toEqual({ model: 'm', messages });
});

test('the order of the fields does not depend on the order in which they were given', () => {
  const request = {
    stream: true,
    stream_options: { include_usage: true },
    tools: [],
    seed: 7,
    top_p: 0.5,
    extra: { min_p: 0.1, logprobs: true },
    max_tokens: 5,
    temperature: 1,
    messages,
    model: 'm',
  };
  const text = JSON.stringify(upstreamBody(request, 'm'));
  const reversed = Object.fromEntries(Object.entries(request).toReversed());
  const spread = { logprobs: true, min_p: 0.1, ...request, extra: undefined };
  expect(Object.keys(JSON.parse(text) as object)).toEqual([
    'model',
    'messages',
    'temperature',
    'max_tokens',
    'tools',
    'logprobs',
    'min_p',
    'seed',
    'top_p',
    'stream',
    'stream_options',
  ]);
  expect(JSON.stringify(upstreamBody({ ...reversed, model: 'm', messages }, 'm'))).toBe(text);
  expect(JSON.stringify(upstreamBody(spread, 'm'))).toBe(text);
});
