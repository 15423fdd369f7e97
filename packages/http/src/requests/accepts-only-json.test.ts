import { acceptsOnlyJson } from './accepts-only-json.ts';

test.each([
  [undefined, false],
  ['', false],
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/*', true],
  ['application/json, text/plain', false],
  ['application/json, */*;q=0.1', false],
  ['application/json, text/*', false],
  ['application/json, text/plain;q=0', true],
  ['application/json;q=0', false],
  ['*/*', false],
  ['text/plain', false],
  ['text/html', false],
  ['text/event-stream, application/json', true],
])('Accept: %s', (accept, expected) => {
  expect(acceptsOnlyJson({ headers: accept === undefined ? {} : { accept } })).toBe(expected);
});
