import { openGroupScene, type GroupScene } from '../groups/group-scene.ts';

let scene: GroupScene;
beforeAll(async () => {
  scene = await openGroupScene({ SERVICE_MIN_MULTIPLIER: '0.5' });
});
afterAll(() => scene.close());

const LOW = {
  code: -32_007,
  message: 'cost_multiplier must be at least 0.5: only platform admins may give a lower one',
};

test('group admins and owners cannot give a multiplier below the minimum, platform admins can', async () => {
  const { id, owner, admin, member } = await scene.populatedGroup();
  const change = (cost_multiplier: number) => ({
    group_id: id,
    user_id: member.email,
    cost_multiplier,
  });
  for (const caller of [owner, admin]) {
    const { error } = await scene.call('group.members.update', change(0.49), caller);
    expect(error).toEqual(LOW);
    const { result } = await scene.call('group.members.update', change(0.5), caller);
    expect(result).toMatchObject({ cost_multiplier: 0.5 });
  }
  const { result } = await scene.call('group.members.update', change(0), scene.platform);
  expect(result).toMatchObject({ cost_multiplier: 0 });
  const unchanged = { group_id: id, user_id: member.email, role: 'admin' };
  expect((await scene.call('group.members.update', unchanged, admin)).result).toMatchObject({
    role: 'admin',
    cost_multiplier: 0,
  });
});

test('the same holds for members who are added', async () => {
  const { id, admin } = await scene.populatedGroup();
  const params = { group_id: id, email: scene.outsider.email };
  const low = { ...params, cost_multiplier: 0 };
  expect((await scene.call('group.members.add', low, admin)).error).toEqual(LOW);
  expect((await scene.call('group.members.add', params, admin)).result).toMatchObject({
    cost_multiplier: 1,
  });
  expect((await scene.call('group.members.add', low, scene.platform)).error).toBeUndefined();
});
