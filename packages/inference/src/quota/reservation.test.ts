import { expectedChat } from './reservation.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

test.each([
  [{}, 256],
  [{ max_tokens: 10 }, 10],
  [{ max_completion_tokens: 9_000 }, 9_000],
  [{ max_tokens: 1, max_completion_tokens: 9_000 }, 9_000],
  [{ max_tokens: 9_000, max_completion_tokens: 1 }, 9_000],
  [{ extra: { max_completion_tokens: 9_000 } }, 9_000],
  [{ max_tokens: null, max_completion_tokens: -1, extra: 7 }, 256],
])('%j reserves the completion tokens that an upstream may generate: %i', (fields, expected) => {
  const request = { model: 'm', messages, ...fields };
  expect(expectedChat(request).completionTokens).toBe(expected);
});
