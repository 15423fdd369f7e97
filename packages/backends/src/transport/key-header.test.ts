import { keyHeader } from './key-header.ts';

test.each([
  [undefined, { authorization: 'Bearer k' }],
  ['authorization: Bearer', { authorization: 'Bearer k' }],
  ['api-key', { 'api-key': 'k' }],
  ['X-Api-Key', { 'x-api-key': 'k' }],
  ['Authorization:Token', { authorization: 'Token k' }],
])('the header %p carries the key as %j', (authHeader, header) => {
  expect(keyHeader({ apiKey: 'k', authHeader })).toEqual(header);
});

test('without a key there is no header', () => {
  expect(keyHeader({ apiKey: null, authHeader: 'api-key' })).toEqual({});
});
