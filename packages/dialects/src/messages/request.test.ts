import { messagesRequest } from './request.ts';

const hello = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
const LONG_ID = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(36) });

test.each([
  { id: 'ann', user: 'ann' },
  { id: LONG_ID, user: expect.stringMatching(/^[\da-f]{64}$/) as string },
])('an id of a user is as short as other providers take it: $id', ({ id, user }) => {
  const metadata = { user_id: id };
  const { chat, own } = messagesRequest.parse({ ...hello, metadata });
  expect(chat['user']).toEqual(user);
  expect(messagesRequest.parse({ ...hello, metadata }).chat['user']).toBe(chat['user']);
  // An upstream of this API gets it as it is.
  expect(own.bodyWith([])).toMatchObject({ metadata });
});
