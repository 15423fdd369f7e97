import { backendOf, changeOf, emptyDraft, linesOf, problemsOf } from './backend-draft.ts';
import type { BackendKind } from './kinds.ts';

const FIELD = { title: 'a title', description: 'a description' };
const KEYS = { auth_header: FIELD, api_keys: FIELD };
const ALL = { ...KEYS, dialects: { ...FIELD, items: { enum: ['responses' as const] } } };

function kindOf(changes: Partial<BackendKind>): BackendKind {
  return {
    name: 'anthropic',
    aliases: [],
    is_internal: false,
    title: 'A title',
    purpose: 'A purpose.',
    example_url: 'https://h/v1',
    url_prefixes: ['https://', 'http://', 'bridge://'],
    api_key: { title: 'API key', is_usual: true },
    needs_models: false,
    capabilities: [],
    offered_capabilities: [],
    options: { properties: KEYS },
    facts: { is_free: false, lists_all: false, takes_token_ids: false, is_bounded: false },
    ...changes,
  };
}

const UNUSUAL_KEY = { title: 'API key', is_usual: false };
const KINDS = {
  external: kindOf({
    name: 'external',
    offered_capabilities: ['chat', 'images'],
    options: { properties: ALL },
  }),
  azure: kindOf({ name: 'azure', needs_models: true, options: { properties: ALL } }),
  engine: kindOf({
    name: 'engine',
    url_prefixes: ['wss://', 'ws://', 'bridge://'],
    api_key: UNUSUAL_KEY,
    options: { properties: {} },
  }),
  'local-server': kindOf({
    name: 'local-server',
    api_key: UNUSUAL_KEY,
    offered_capabilities: ['chat'],
    options: { properties: {} },
  }),
  'cloud-video': kindOf({ name: 'cloud-video', needs_models: true, options: { properties: {} } }),
};
const kind = (name: keyof typeof KINDS): BackendKind => KINDS[name];
const empty = emptyDraft(' cloud ', ' https://h/v1 ');
const draft = { ...empty, apiKey: ' sk-1 ' };
const limited = (limits: object) => ({ ...empty.limits, ...limits });

test('models are one per line, each once', () => {
  expect(linesOf(' a \n\nb\r\na')).toEqual(['a', 'b']);
});

test.each<{ why: string; type: keyof typeof KINDS; change: object; field: string }>([
  { why: 'no name', type: 'external', change: { name: ' ' }, field: 'name' },
  { why: 'a long name', type: 'external', change: { name: 'x'.repeat(65) }, field: 'name' },
  { why: 'a taken name', type: 'external', change: { name: 'taken' }, field: 'name' },
  { why: 'no address', type: 'external', change: { url: '' }, field: 'url' },
  { why: 'no host', type: 'external', change: { url: 'http://' }, field: 'url' },
  { why: 'another scheme', type: 'engine', change: { url: 'http://h' }, field: 'url' },
  {
    why: 'a limit of nothing',
    type: 'external',
    change: { limits: limited({ rpm: '0' }) },
    field: 'rpm',
  },
  {
    why: 'a limit in words',
    type: 'engine',
    change: { url: 'ws://h', limits: limited({ tpm: 'many' }) },
    field: 'tpm',
  },
  {
    why: 'a broken header',
    type: 'azure',
    change: { authHeader: 'a b', models: 'm' },
    field: 'authHeader',
  },
  {
    why: 'too many keys',
    type: 'external',
    change: { moreKeys: Array.from({ length: 40 }, (_, index) => `k${index}`).join('\n') },
    field: 'moreKeys',
  },
  { why: 'no models', type: 'cloud-video', change: {}, field: 'models' },
])('the form marks $why', ({ type, change, field }) => {
  expect(Object.keys(problemsOf(kind(type), { ...draft, ...change }, ['taken']))).toEqual([field]);
});

test('what was entered becomes a backend, and only what was entered changes one', () => {
  expect(problemsOf(kind('external'), draft)).toEqual({});
  expect(backendOf(kind('external'), draft)).toEqual({
    name: 'cloud',
    type: 'external',
    url: 'https://h/v1',
    api_key: 'sk-1',
  });
  const local = backendOf(kind('local-server'), { ...draft, models: 'a' });
  expect(local).toEqual({
    name: 'cloud',
    type: 'local-server',
    url: 'https://h/v1',
    models: ['a'],
  });
  expect(changeOf(kind('external'), empty, empty)).toEqual({
    url: 'https://h/v1',
    models: [],
  });
});

test('keys, capabilities, dialects and limits are those that the kind has', () => {
  const whole = {
    ...draft,
    moreKeys: 'sk-2\nsk-3',
    authHeader: 'api-key',
    capabilities: ['chat', 'images'] as const,
    dialects: ['responses'] as const,
    limits: limited({ rpm: '60', concurrency: '4' }),
  };
  expect(backendOf(kind('external'), whole)).toMatchObject({
    api_keys: ['sk-1', 'sk-2', 'sk-3'],
    auth_header: 'api-key',
    capabilities: ['chat', 'images'],
    dialects: ['responses'],
    limits: { rpm: 60, concurrency: 4 },
  });
  expect(backendOf(kind('local-server'), whole)).toEqual({
    name: 'cloud',
    type: 'local-server',
    url: 'https://h/v1',
    capabilities: ['chat'],
    limits: { rpm: 60, concurrency: 4 },
  });
  expect(backendOf(kind('cloud-video'), whole)).toMatchObject({ api_key: 'sk-1' });
});

test('what was removed from the form is removed from the backend', () => {
  const before = { ...empty, capabilities: ['chat'] as const, limits: limited({ rpm: '60' }) };
  expect(changeOf(kind('external'), before, empty)).toEqual({
    url: 'https://h/v1',
    models: [],
    capabilities: null,
    limits: null,
  });
});
