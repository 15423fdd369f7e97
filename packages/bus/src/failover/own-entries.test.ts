import { manualClock, type ManualClock } from '@model-gateway/kernel';
import { createOwnEntries, type OwnEntries } from './own-entries.ts';

const MINUTE_MS = 60_000;
const MINUTE = { expiresAfterMs: MINUTE_MS };

function makeOwn(entriesMax = 10): { readonly own: OwnEntries; readonly clock: ManualClock } {
  const clock = manualClock(0);
  return { clock, own: createOwnEntries({ clock, entriesMax }) };
}

test('what is remembered from Redis is served and not handed back', async () => {
  const { own } = makeOwn();
  own.remember('owner', { value: 'a', expiresAfterMs: 100 });
  expect(await own.get('owner')).toBe('a');
  expect(await own.putIfAbsent('owner', 'b', MINUTE)).toBe('a');
  expect(own.missedKeys()).toEqual([]);
});

test('a value put here replaces on Redis only the values that were known here', async () => {
  const { own, clock } = makeOwn();
  own.remember('owner', { value: 'a', expiresAfterMs: 100 });
  await own.put('owner', 'b', MINUTE);
  await own.put('owner', 'c', MINUTE);
  clock.advance(1_000);
  expect(own.missed('owner')?.toRepeat()).toEqual({
    replaces: ['a', 'b'],
    entry: { value: 'c', expiresAfterMs: MINUTE_MS - 1_000 },
  });
});

test('a removal is repeated for whatever value Redis has, a conditional one for that value alone', async () => {
  const { own } = makeOwn();
  await own.remove('a');
  expect(await own.removeIf('b', 'value')).toBe(false);
  expect(own.missed('a')?.toRepeat()).toEqual({ replaces: 'any', entry: undefined });
  expect(own.missed('b')?.toRepeat()).toEqual({ replaces: ['value'], entry: undefined });
});

test('a value that expired before it was handed back counts as removed', async () => {
  const { own, clock } = makeOwn();
  own.remember('owner', { value: 'a', expiresAfterMs: 2 * MINUTE_MS });
  await own.put('owner', 'b', MINUTE);
  clock.advance(MINUTE_MS);
  expect(own.missed('owner')?.toRepeat()).toEqual({ replaces: ['a'], entry: undefined });
});

test('a change that is made while an earlier one is handed back stays to be handed back', async () => {
  const { own } = makeOwn();
  await own.put('owner', 'a', MINUTE);
  const earlier = own.missed('owner');
  await own.put('owner', 'b', MINUTE);
  if (earlier !== undefined) own.made('owner', earlier);
  expect(own.missed('owner')?.toRepeat().entry?.value).toBe('b');
});

test('the oldest changes are given up when there are too many', async () => {
  const { own } = makeOwn(2);
  for (const key of ['a', 'b', 'a', 'c']) await own.put(key, 'value', MINUTE);
  expect(own.missedKeys()).toEqual(['a', 'c']);
});
