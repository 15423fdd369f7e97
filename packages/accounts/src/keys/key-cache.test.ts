import { ServiceError } from '@model-gateway/contracts';
import { manualClock } from '@model-gateway/kernel';
import { createKeyCache, type KeyGrant } from './key-cache.ts';
import { NO_KEY_SETTINGS } from './key-settings.ts';

const SECRET = 'service-00000000-0000-4000-8000-000000000001';
const OTHER = 'service-00000000-0000-4000-8000-000000000002';

const UNLIMITED = {
  tier: { name: 'free', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null },
  groupRpm: null,
  costMultiplier: 1,
};

const grantOf = (keyId: string, groupId: string | null = null): KeyGrant => ({
  holder: { keyId, userId: 'u', groupId, keyPrefix: 'service-', project: 'default' },
  owner: { email: 'u@example.com', isAdmin: false },
  limits: UNLIMITED,
  settings: NO_KEY_SETTINGS,
  replacedUntil: null,
  modelPolicy: null,
});

/** A cache on a store and an epoch that the test holds in its hands. */
function setup() {
  const clock = manualClock(1_000_000);
  const store = new Map<string, KeyGrant>([
    [SECRET, grantOf('k')],
    [OTHER, grantOf('o', 'g')],
  ]);
  const state = { epoch: 3, lookups: 0, isUnavailable: false };
  const cache = createKeyCache({
    clock,
    readEpoch: async () => state.epoch,
    lookUp: async (secret) => {
      state.lookups += 1;
      if (state.isUnavailable) throw new ServiceError('store_unavailable', 'unavailable');
      return store.get(secret);
    },
  });
  const found = async (secret = SECRET) => (await cache.find(secret))?.grant.holder.keyId;
  return { clock, store, state, cache, found };
}

test('a key is looked up once, and again after 5 seconds', async () => {
  const { clock, state, found } = setup();
  expect([await found(), await found(), await found()]).toEqual(['k', 'k', 'k']);
  expect(state.lookups).toBe(1);
  clock.advance(5_000);
  expect(await found()).toBe('k');
  expect(state.lookups).toBe(2);
});

test('requests that come at once share a look-up', async () => {
  const { state, found } = setup();
  expect(await Promise.all([found(), found(), found()])).toEqual(['k', 'k', 'k']);
  expect(state.lookups).toBe(1);
});

test('a revocation is noticed by its number, before its announcement arrives', async () => {
  const { store, state, found } = setup();
  await found();
  store.delete(SECRET);
  state.epoch += 1;
  expect(await found()).toBeUndefined();
});

test('an announced change keeps the keys that it does not concern', async () => {
  const { state, cache, found } = setup();
  cache.applyChange({ epoch: 3, change: { kind: 'key', keyId: 'before' } });
  await Promise.all([found(), found(OTHER)]);
  state.epoch = 4;
  cache.applyChange({ epoch: 4, change: { kind: 'member', groupId: 'g', userId: 'u' } });
  expect(await found()).toBe('k');
  expect(state.lookups).toBe(2);
  expect(await found(OTHER)).toBe('o');
  expect(state.lookups).toBe(3);
});

test('after a missed change everything is looked up again', async () => {
  const { state, cache, found } = setup();
  cache.applyChange({ epoch: 3, change: { kind: 'key', keyId: 'before' } });
  await found();
  state.epoch = 5;
  cache.applyChange({ epoch: 5, change: { kind: 'key', keyId: 'another' } });
  await found();
  expect(state.lookups).toBe(2);
});

test('a look-up that a change overtook is not remembered', async () => {
  const answers: ((grant: KeyGrant | undefined) => void)[] = [];
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const cache = createKeyCache({
    clock: manualClock(0),
    readEpoch: async () => 0,
    lookUp: () =>
      new Promise((resolve) => {
        answers.push(resolve);
        asked();
      }),
  });
  const early = cache.find(SECRET);
  await isAsked;
  // The store was read before the revocation, which is announced before the answer is here.
  cache.applyChange({ epoch: 1, change: { kind: 'key', keyId: 'k' } });
  answers[0]?.(grantOf('k'));
  expect(await early).toBeDefined();
  const late = cache.find(SECRET);
  await new Promise(setImmediate);
  answers[1]?.(undefined);
  expect(await late).toBeUndefined();
});

test('when the counter is reset, no cached entry is used', async () => {
  const { store, state, cache, found } = setup();
  cache.applyChange({ epoch: 3, change: { kind: 'key', keyId: 'before' } });
  await found();
  store.delete(SECRET);
  state.epoch = 1;
  expect(await found()).toBeUndefined();
});

test('an unknown key is remembered as such only until something changes', async () => {
  const { store, state, found } = setup();
  const fresh = 'service-00000000-0000-4000-8000-000000000003';
  expect([await found(fresh), await found(fresh)]).toEqual([undefined, undefined]);
  expect(state.lookups).toBe(1);
  store.set(fresh, grantOf('fresh'));
  state.epoch += 1;
  expect(await found(fresh)).toBe('fresh');
});

test('what is no key is not looked up', async () => {
  const { state, found } = setup();
  expect(await found('hello')).toBeUndefined();
  expect(state.lookups).toBe(0);
});

test('while the store is unavailable a cached key stays valid for 10 minutes, and the store is not read', async () => {
  const { clock, state, found } = setup();
  await found();
  state.isUnavailable = true;
  clock.advance(5_000);
  expect([await found(), await found(), await found()]).toEqual(['k', 'k', 'k']);
  expect(state.lookups).toBe(2);
  clock.advance(594_000);
  expect(await found()).toBe('k');
  clock.advance(2_000);
  await expect(found()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('while the store is unavailable an unknown key is neither accepted nor refused', async () => {
  const { state, found } = setup();
  state.isUnavailable = true;
  await expect(found()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('while the store is unavailable a key whose revocation was announced is not valid', async () => {
  const { state, cache, found } = setup();
  await found();
  state.isUnavailable = true;
  state.epoch = 4;
  cache.applyChange({ epoch: 4, change: { kind: 'key', keyId: 'k' } });
  await expect(found()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a store that does not respond does not delay cached keys', async () => {
  const clock = manualClock(0);
  let isHanging = false;
  const cache = createKeyCache({
    clock,
    readEpoch: async () => 0,
    lookUp: () => (isHanging ? new Promise(() => undefined) : Promise.resolve(grantOf('k'))),
  });
  await cache.find(SECRET);
  isHanging = true;
  clock.advance(5_000);
  expect((await cache.find(SECRET))?.grant.holder.keyId).toBe('k');
});

test('what is remembered is recalled with the changes that it is good for, and nothing else is', async () => {
  const { clock, cache, found } = setup();
  expect(cache.recall(SECRET)).toBeUndefined();
  await found();
  expect(cache.recall(SECRET)).toMatchObject({ grant: { holder: { keyId: 'k' } }, epoch: 3 });
  cache.applyChange({ epoch: 3, change: { kind: 'key', keyId: 'before' } });
  await found();
  cache.applyChange({ epoch: 4, change: { kind: 'key', keyId: 'another' } });
  expect(cache.recall(SECRET)).toMatchObject({ epoch: 4 });
  cache.applyChange({ epoch: 5, change: { kind: 'key', keyId: 'k' } });
  expect(cache.recall(SECRET)).toBeUndefined();
  await found();
  clock.advance(5_000);
  expect(cache.recall(SECRET)).toBeUndefined();
});

test('a replaced secret is unknown when its time is over, without any change', async () => {
  const { clock, store, state, cache, found } = setup();
  const replacedUntil = new Date(clock.now() + 3_000);
  store.set(SECRET, { ...grantOf('k'), replacedUntil });
  expect(await found()).toBe('k');
  clock.advance(2_999);
  expect(cache.recall(SECRET)).toBeDefined();
  clock.advance(1);
  expect(cache.recall(SECRET)).toBeUndefined();
  expect(await found()).toBeUndefined();
  state.isUnavailable = true;
  clock.advance(10_000);
  expect(await found()).toBeUndefined();
});
