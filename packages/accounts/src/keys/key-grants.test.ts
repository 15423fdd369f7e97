import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { createKeyGrants } from './key-grants.ts';
import { NO_KEY_SETTINGS } from './key-settings.ts';

const SECRET = 'service-3f2a51c9-1111-4222-8333-abcdefabc91d';
// V8 gives a copied object a hidden class of its own only after some copies.
const LOOKUPS = 100;

function createGrants() {
  const limits = {
    tier: { name: 'free', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null },
    groupRpm: null,
    costMultiplier: 1,
  };
  const holder = { keyId: 'key', userId: 'user', groupId: null, keyPrefix: '', project: '' };
  const owner = { email: 'user@example.com', isAdmin: false };
  return createKeyGrants({
    keys: {
      findHolder: () =>
        Promise.resolve({ holder, owner, limits, settings: NO_KEY_SETTINGS, replacedUntil: null }),
    },
    groups: { find: () => Promise.resolve(undefined) },
    modelRules: { list: () => Promise.resolve({ allowed: [], denied: [] }) },
  });
}

function createHiddenClassCheck(): (one: unknown, other: unknown) => boolean {
  setFlagsFromString('--allow-natives-syntax');
  const check = runInThisContext('(one, other) => %HaveSameMap(one, other)') as ReturnType<
    typeof createHiddenClassCheck
  >;
  // Compiled by its first call.
  check(undefined, undefined);
  setFlagsFromString('--no-allow-natives-syntax');
  return check;
}

test('the grants of all lookups have one hidden class, so that what requests run stays compiled', async () => {
  const grants = createGrants();
  const haveSameClass = createHiddenClassCheck();
  const first = await grants.lookUp(SECRET);
  expect(first?.holder.keyId).toBe('key');
  for (let lookup = 0; lookup < LOOKUPS; lookup += 1)
    expect(haveSameClass(first, await grants.lookUp(SECRET))).toBe(true);
});
