import { ServiceError } from '@model-gateway/contracts';
import { manualClock } from '@model-gateway/kernel';
import { createCachedUsers } from './cached-users.ts';
import type { User, UserStore } from './user-store.ts';

const ANN: User = { id: 'ann', email: 'ann@example.com', name: 'Ann', isAdmin: true };

function setup() {
  const clock = manualClock(0);
  const state: { user: User | undefined; isUnavailable: boolean } = {
    user: ANN,
    isUnavailable: false,
  };
  const unused = () => Promise.reject(new Error('not asked for'));
  const store: UserStore = {
    create: unused,
    findById: async () => {
      if (state.isUnavailable) throw new ServiceError('store_unavailable', 'unavailable');
      return state.user;
    },
    findBySignIn: () => Promise.reject(new Error('not asked for')),
    isEmpty: () => Promise.reject(new Error('not asked for')),
    findByEmail: unused,
    holdSignIn: unused,
    findOldestAdmin: unused,
  };
  return { clock, state, users: createCachedUsers(store, clock) };
}

test('a cached account stays valid for 10 minutes while the store is unavailable', async () => {
  const { clock, state, users } = setup();
  await users.findById('ann');
  state.isUnavailable = true;
  clock.advance(10 * 60_000 - 1);
  expect(await users.findById('ann')).toEqual(ANN);
  clock.advance(1);
  await expect(users.findById('ann')).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('unknown and deleted accounts are not cached', async () => {
  const { state, users } = setup();
  state.isUnavailable = true;
  await expect(users.findById('ann')).rejects.toMatchObject({ code: 'store_unavailable' });
  state.isUnavailable = false;
  await users.findById('ann');
  state.user = undefined;
  expect(await users.findById('ann')).toBeUndefined();
  state.isUnavailable = true;
  await expect(users.findById('ann')).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('while the store is available, it is read', async () => {
  const { state, users } = setup();
  await users.findById('ann');
  state.user = { ...ANN, isAdmin: false };
  expect(await users.findById('ann')).toMatchObject({ isAdmin: false });
});
