import { jsonBody } from './json-body.ts';

const LONG = 300 * 1024;

test('a short value is plain JSON', () => {
  expect(jsonBody({ model: 'm', messages: [{ content: 'é' }] })).toBe(
    '{"model":"m","messages":[{"content":"é"}]}',
  );
});

test.each([
  ['plain text', 'a b '.repeat(LONG)],
  ['quotes', '"\\\n'.repeat(LONG)],
  ['characters of two units', `x${'😀'.repeat(LONG)}`],
  ['halves of characters', '\ud83d'.repeat(LONG)],
])('a value with long strings has the same bytes: %s', async (_what, text) => {
  const value = {
    model: 'm',
    messages: [{ content: text }, { content: [{ text }, 'short'] }],
    n: 1,
  };
  const body = await jsonBody(value);
  expect(Buffer.isBuffer(body)).toBe(true);
  expect(String(body) === JSON.stringify(value)).toBe(true);
});
