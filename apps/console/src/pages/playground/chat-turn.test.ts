import { ModelFailure, streamError } from './chat-turn.ts';

test.each([
  { why: 'a 500 of the backend', code: -32_000, upstream: { status: 500 }, isOfModel: true },
  { why: 'no answer of the backend', code: -32_000, upstream: undefined, isOfModel: true },
  {
    why: 'a refused key of the backend',
    code: -32_000,
    upstream: { status: 401 },
    isOfModel: true,
  },
  { why: 'a limit of the backend', code: -32_000, upstream: { status: 429 }, isOfModel: true },
  { why: 'a 400 of the backend', code: -32_000, upstream: { status: 400 }, isOfModel: false },
  { why: 'an internal error', code: -32_603, upstream: undefined, isOfModel: false },
])('$why is a failure of the model: $isOfModel', ({ code, upstream, isOfModel }) => {
  const error = streamError(code, 'no', upstream === undefined ? undefined : { upstream });
  expect(error instanceof ModelFailure).toBe(isOfModel);
  expect(error.message).toBe('no');
});
