import { chatRequestSchema } from './chat.ts';

const user = { role: 'user', content: 'Hi' };
const hello = { model: 'm', messages: [user] };
const call = { id: '1', type: 'function', function: { name: 'look', arguments: '{}' } };
const called = { role: 'assistant', content: null, tool_calls: [call], refusal: null };

test.each([
  {
    what: 'tools of any type',
    body: { ...hello, tools: [{ type: 'custom', custom: { a: [1] } }] },
  },
  {
    what: 'functions with a name, and tools that only the upstream knows',
    body: {
      ...hello,
      tools: [
        { type: 'function', function: { name: 'look' } },
        { type: 'function', name: 'look' },
        { google_search: {} },
      ],
    },
  },
  { what: 'no tools', body: { ...hello, tools: null } },
  { what: 'an extra that is not an object', body: { ...hello, extra: 'fast' } },
  {
    what: 'images as texts',
    body: { ...hello, messages: [{ ...user, images: ['AA==', 'data:,'] }] },
  },
  {
    what: 'images as objects',
    body: {
      ...hello,
      messages: [
        {
          ...user,
          images: [
            { data: 'AA==', media_type: 'image/png' },
            { data: null, data_base64: 'AA==', mime_type: 'image/png' },
          ],
        },
      ],
    },
  },
  {
    what: 'no images and no calls',
    body: { ...hello, messages: [{ ...user, images: null, tool_calls: null }] },
  },
  { what: 'tool calls', body: { ...hello, messages: [user, called, { ...user, role: 'tool' }] } },
  {
    what: 'calls of the older form',
    body: { ...hello, messages: [user, called, { ...user, role: 'function', name: 'look' }] },
  },
  {
    what: 'unknown fields',
    body: { ...hello, messages: [{ ...user, name: 'Ada' }], tool_choice: 'auto', seed: 7 },
  },
])('$what pass unchanged', ({ body }) => {
  expect(chatRequestSchema.parse(body)).toEqual(body);
});

test.each([
  { path: 'messages.0.role', body: { ...hello, messages: [{ ...user, role: 'robot' }] } },
  { path: 'messages.0.role', body: { ...hello, messages: [{ content: 'Hi', name: 'user' }] } },
  { path: 'messages.0.content', body: { ...hello, messages: [{ ...user, content: 7 }] } },
  { path: 'messages.0.content', body: { ...hello, messages: [{ ...user, content: null }] } },
  { path: 'messages.1', body: { ...hello, messages: [user, ['user', 'Hi']] } },
  { path: 'tools', body: { ...hello, tools: { type: 'function' } } },
  { path: 'tools', body: { ...hello, tools: 'all' } },
  { path: 'tools.0', body: { ...hello, tools: ['look'] } },
  { path: 'tools.0.function.name', body: { ...hello, tools: [{ type: 'function' }] } },
  {
    path: 'tools.1.function.name',
    body: {
      ...hello,
      tools: [
        { type: 'function', function: { name: 'look' } },
        { function: { name: '', parameters: {} } },
      ],
    },
  },
  { path: 'messages.0.images', body: { ...hello, messages: [{ ...user, images: 'AA==' }] } },
  { path: 'messages.0.images.1', body: { ...hello, messages: [{ ...user, images: ['AA==', 7] }] } },
  { path: 'messages.0.images.0', body: { ...hello, messages: [{ ...user, images: [{}] }] } },
  {
    path: 'messages.0.tool_calls',
    body: { ...hello, messages: [{ ...called, tool_calls: call }] },
  },
])('$path of another type is refused', ({ path, body }) => {
  const issues = chatRequestSchema.safeParse(body).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});
