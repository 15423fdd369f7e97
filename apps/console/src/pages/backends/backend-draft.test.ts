import { BACKEND_KINDS, kindOf, type BackendKind } from './backend-kinds.ts';
import { backendOf, changeOf, modelsOf, problemsOf } from './backend-draft.ts';

const kind = (type: string): BackendKind => {
  const found = kindOf(type);
  if (found === undefined) throw new Error(`no kind ${type}`);
  return found;
};
const draft = { name: ' cloud ', url: ' https://h/v1 ', apiKey: ' sk-1 ', models: '' };

test('models are one per line, each once', () => {
  expect(modelsOf(' a \n\nb\r\na')).toEqual(['a', 'b']);
});

test('the address that each kind begins with is a valid one', () => {
  for (const each of BACKEND_KINDS) {
    const { url: problem } = problemsOf(each, { ...draft, url: each.url });
    expect(problem).toBeUndefined();
  }
});

test.each([
  { why: 'no name', type: 'external', change: { name: ' ' }, field: 'name' },
  { why: 'a long name', type: 'external', change: { name: 'x'.repeat(65) }, field: 'name' },
  { why: 'a taken name', type: 'external', change: { name: 'taken' }, field: 'name' },
  { why: 'no address', type: 'external', change: { url: '' }, field: 'url' },
  { why: 'no host', type: 'external', change: { url: 'http://' }, field: 'url' },
  { why: 'another scheme', type: 'engine', change: { url: 'http://h' }, field: 'url' },
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
  expect(changeOf(kind('external'), { ...draft, apiKey: '' })).toEqual({
    url: 'https://h/v1',
    models: [],
  });
});
