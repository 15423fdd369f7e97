import { newId } from '@model-gateway/kernel';
import { usageEvent } from '@model-gateway/testkit';
import { openGroupScene, type GroupScene, type TestUser } from '../groups/group-scene.ts';

const INVALID = -32_602;
const HIDDEN = 'request not found';

let scene: GroupScene;
let ann: TestUser;
let bob: TestUser;

beforeAll(async () => {
  scene = await openGroupScene();
  ann = await scene.createUser('ann');
  bob = await scene.createUser('bob');
});
afterAll(() => scene.close());

/** Stores a served request with an id of the client; returns the id of its row. */
async function served({ id: userId }: TestUser, requestId: string, day: number): Promise<string> {
  const created_at = `2026-03-0${day}T00:00:00.000Z`;
  const event = { ...usageEvent(userId, { created_at, status: 200 }), request_id: requestId };
  await scene.context.database.usage.record([event], { pointsPerUsd: 100 });
  return event.id;
}

/** The id of the row that a user gets, or the error. */
async function get(user: TestUser, params: object): Promise<unknown> {
  const { result, error } = await scene.call('requests.get', params, user);
  return error?.message ?? (result as { readonly id: string }).id;
}

test('a request is found by the id of its row and by the id that its client sent', async () => {
  const name = `job-${newId()}`;
  const row = await served(ann, name, 1);
  for (const id of [row, name]) {
    expect(await get(ann, { id })).toBe(row);
    expect(await get(ann, { request_id: id })).toBe(row);
  }
  expect(await get(scene.platform, { id: row })).toBe(row);
});

test('an id that was sent several times stands for the newest request of the caller', async () => {
  for (const name of [`job-${newId()}`, newId()]) {
    const newest = await served(ann, name, 3);
    await served(ann, name, 2);
    const own = await served(bob, name, 4);
    expect(await get(ann, { id: name })).toBe(newest);
    expect(await get(bob, { id: name })).toBe(own);
    expect(await get(scene.outsider, { id: name })).toBe(HIDDEN);
  }
});

test('an id that is the row of another user stands for a request of the caller', async () => {
  const row = await served(ann, 'any', 1);
  expect(await get(bob, { id: row })).toBe(HIDDEN);
  const own = await served(bob, row, 1);
  expect(await get(bob, { id: row })).toBe(own);
  expect(await get(ann, { id: row })).toBe(row);
});

test.each([
  { params: {}, message: 'id' },
  { params: { id: '' }, message: 'id' },
  { params: { id: 'a'.repeat(129) }, message: 'id' },
])('refused: $params', async ({ params, message }) => {
  const { error } = await scene.call('requests.get', params, ann);
  expect(error).toMatchObject({ code: INVALID, message: expect.stringContaining(message) });
});
