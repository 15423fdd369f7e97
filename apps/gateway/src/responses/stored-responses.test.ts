import { ServiceError } from '@model-gateway/contracts';
import { responsesDialect } from '@model-gateway/dialects';
import { createMeasuredBodyMemory, createStoredReader } from '@model-gateway/http';
import { jwtCaller, type ResponseStore, type StoredResponse } from '@model-gateway/inference';
import { createMetrics, manualClock, silentLog } from '@model-gateway/kernel';
import { createStoredResponses } from './stored-responses.ts';

const caller = jwtCaller('00000000-0000-4000-8000-000000000000');
const hello = { model: 'm', input: 'Hello' };
const away = () => Promise.reject(new ServiceError('store_unavailable', 'away'));

/** A store that is away, apart from the given functions. */
function responsesOn(store: Partial<ResponseStore>, retentionDays = 30) {
  const base = { save: away, sizes: away, find: away, chain: away, remove: away };
  const removals = { removeOldest: away, removeBeyond: away, removeExpired: away };
  const clock = manualClock(1_757_836_800_000);
  return createStoredResponses({
    store: { ...base, ...removals, ...store },
    retentionDays,
    perUserMax: 100,
    storedBytesMax: 1_000,
    clock,
    log: silentLog,
  });
}
const limits = { bytes: 32 * 1024 * 1024, items: 10_000 };
const memory = createMeasuredBodyMemory(64 * 1024 * 1024, createMetrics());
/** The reader of a request that does not end. */
const reader = () =>
  createStoredReader({ userId: caller.userId, memory, limits, onEnd: () => undefined });
const read = (body: object) => responsesDialect.request.parse(body);

test('while the store is away, a new turn is answered and says that it is not stored', async () => {
  const responses = responsesOn({});
  const request = await responses.complete(read(hello), reader());
  expect(request).toMatchObject({
    isStored: true,
    id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
  });
  const answer = { id: request.id, store: true, output: [] };
  expect(await responses.keep(request, caller, answer)).toEqual({ ...answer, store: false });
  await expect(
    responses.complete(read({ ...hello, previous_response_id: 'resp_1' }), reader()),
  ).rejects.toMatchObject({ code: 'store_unavailable' });
});

test.each([
  { why: 'nothing is kept', retentionDays: 0, body: hello },
  {
    why: 'the input is too large',
    retentionDays: 30,
    body: { ...hello, input: 'x'.repeat(8 * 1024 * 1024) },
  },
])(
  'a request is not stored where $why, and the header names it',
  async ({ retentionDays, body }) => {
    const request = await responsesOn({}, retentionDays).complete(read(body), reader());
    expect(request).toMatchObject({ isStored: false, ignored: ['store'] });
  },
);

test('an answer that is too large is not stored', async () => {
  const saved: StoredResponse[] = [];
  const responses = responsesOn({ save: async (response) => saved.push(response) > 0 });
  const request = await responses.complete(read(hello), reader());
  const answer = { store: true, output: ['x'.repeat(8 * 1024 * 1024)] };
  expect(await responses.keep(request, caller, answer)).toMatchObject({ store: false });
  expect(saved).toEqual([]);
});

test('an answer for which its user has no room is not stored, and says so', async () => {
  const responses = responsesOn({ save: async () => false });
  const request = await responses.complete(read(hello), reader());
  const answer = { id: request.id, store: true, output: [] };
  expect(await responses.keep(request, caller, answer)).toEqual({ ...answer, store: false });
});

test.each([
  { missing: 'deleted' as const, code: 'previous_response_not_found' },
  { missing: 'too-long' as const, code: 'context_too_large' },
])('a history of which a part is $missing is refused', async ({ missing, code }) => {
  const responses = responsesOn({ chain: async () => ({ responses: [], missing }) });
  const body = { ...hello, previous_response_id: 'resp_1' };
  await expect(responses.complete(read(body), reader())).rejects.toMatchObject({ code });
});
