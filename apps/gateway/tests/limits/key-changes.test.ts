import type { KeySettingChanges } from '@model-gateway/accounts';
import { fullSize, insertAccount, waitUntil } from '@model-gateway/testkit';
import { groupsOf, keysOf, startTwoGateways, usersOf, type TwoGateways } from '../gateway.ts';

const ROUNDS = fullSize(50, { small: 3 });
const MEMBER = 'member@example.com';

let gateways: TwoGateways;
let ownerId = '';

beforeAll(async () => {
  gateways = await startTwoGateways();
  ownerId = await insertAccount(gateways.test.context.database, 'owner@example.com');
});
afterAll(() => gateways.test.close());

async function createKey(
  userId = ownerId,
  groupId?: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { key, secret } = await keysOf(gateways.test).create({ userId, name: 'k', groupId });
  return { id: key.id, secret };
}
const revoke = (keyId: string): Promise<void> => keysOf(gateways.test).revoke(ownerId, keyId);

/** The status of a concurrent request to each gateway. */
const statuses = (secret: string): Promise<readonly number[]> =>
  Promise.all(
    gateways.urls.map(async (url) => {
      const response = await fetch(`${url}/v1/models`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      await response.text();
      return response.status;
    }),
  );

test('a key works immediately on every replica, and its revocation applies to the next request', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, secret } = await createKey();
    expect(await statuses(secret)).toEqual([200, 200]);
    expect(await statuses(secret)).toEqual([200, 200]);
    await revoke(id);
    expect(await statuses(secret)).toEqual([401, 401]);
    expect(await statuses(secret)).toEqual([401, 401]);
  }
});

test('the keys of a user stop with the account and start again with it, and end when it is erased', async () => {
  const directory = usersOf(gateways.test);
  const userId = await insertAccount(gateways.test.context.database, 'leaves@example.com');
  const { secret } = await createKey(userId);
  for (let round = 0; round < ROUNDS; round += 1) {
    expect(await statuses(secret)).toEqual([200, 200]);
    await directory.update(userId, { isActive: false });
    expect(await statuses(secret)).toEqual([401, 401]);
    await directory.update(userId, { isActive: true });
  }
  expect(await statuses(secret)).toEqual([200, 200]);
  await directory.erase(userId, ownerId);
  expect(await statuses(secret)).toEqual([401, 401]);
});

test('the group keys of a member stop and start with the membership', async () => {
  const { users } = gateways.test.context.database;
  const { groups, members } = groupsOf(gateways.test);
  const owner = await users.findById(ownerId);
  if (owner === undefined) throw new Error('the owner was not found');
  const group = await groups.create(owner, { name: 'Team' });
  const memberId = await insertAccount({ users }, MEMBER);
  await members.add(owner, group, MEMBER, {});
  const { secret } = await createKey(memberId, group.id);
  const personal = await createKey(memberId);
  for (let round = 0; round < ROUNDS; round += 1) {
    expect(await statuses(secret)).toEqual([200, 200]);
    await members.update(owner, group.id, MEMBER, { isActive: false });
    expect(await statuses(secret)).toEqual([401, 401]);
    await members.update(owner, group.id, MEMBER, { isActive: true });
  }
  expect(await statuses(secret)).toEqual([200, 200]);
  await members.remove(group.id, MEMBER);
  expect(await statuses(secret)).toEqual([401, 401]);
  expect(await statuses(personal.secret)).toEqual([200, 200]);
});

test('under load no request passes after its key was revoked', async () => {
  const busy = await createKey();
  let isOver = false;
  const load = Array.from({ length: fullSize(8, { small: 3 }) }, async () => {
    while (!isOver) expect(await statuses(busy.secret)).toEqual([200, 200]);
  });
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const { id, secret } = await createKey();
    const [before] = await Promise.all([statuses(secret), statuses(secret)]);
    expect(before).toEqual([200, 200]);
    await revoke(id);
    const after = await Promise.all([statuses(secret), statuses(secret), statuses(secret)]);
    expect(after.flat()).toEqual(after.flat().map(() => 401));
  }
  isOver = true;
  await Promise.all(load);
});

test('a change of the limits of a key applies to the next request on every replica', async () => {
  const { id, secret } = await createKey();
  const keys = keysOf(gateways.test);
  const change = (settings: KeySettingChanges) => keys.update(ownerId, id, { settings });
  expect(await statuses(secret)).toEqual([200, 200]);
  await change({ addresses: ['10.0.0.0/8', '2001:db8::/32'] });
  expect(await statuses(secret)).toEqual([403, 403]);
  await change({ addresses: ['127.0.0.0/8'] });
  expect(await statuses(secret)).toEqual([200, 200]);
  await change({ addresses: [], expiresAt: new Date(Date.now() + 1_000) });
  await statuses(secret);
  await waitUntil(async () => (await statuses(secret)).every((status) => status === 401));
  const chat = await fetch(`${gateways.urls[0]}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: '{}',
  });
  expect([chat.status, await chat.text()]).toEqual([401, 'API key expired']);
  await change({ expiresAt: null });
  expect(await statuses(secret)).toEqual([200, 200]);
});
