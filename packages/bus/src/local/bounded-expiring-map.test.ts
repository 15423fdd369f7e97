import { manualClock } from '@model-gateway/kernel';
import { createBoundedExpiringMap, type BoundedExpiringMap } from './bounded-expiring-map.ts';

const valuesOf = (map: BoundedExpiringMap<number>, keys: readonly string[]): unknown =>
  keys.map((key) => map.get(key)?.value);

test('when it is full, the least recently used entry is dropped', () => {
  const map = createBoundedExpiringMap<number>({ clock: manualClock(0), entriesMax: 2 });
  map.set('a', 1, 100);
  map.set('b', 2, 200);
  expect(map.get('a')).toEqual({ value: 1, expiresAt: 100 });
  map.set('c', 3, 50);
  expect(valuesOf(map, ['a', 'b', 'c'])).toEqual([1, undefined, 3]);
});

test('replacing an entry drops no other', () => {
  const map = createBoundedExpiringMap<number>({ clock: manualClock(0), entriesMax: 2 });
  map.set('a', 1, 100);
  map.set('b', 2, 200);
  map.set('a', 3, 300);
  expect(valuesOf(map, ['a', 'b'])).toEqual([3, 2]);
});

test('an entry is missing from the millisecond at which it expires', () => {
  const clock = manualClock(0);
  const map = createBoundedExpiringMap<number>({ clock, entriesMax: 2 });
  map.set('a', 1, 100);
  clock.advance(99);
  expect(map.get('a')?.value).toBe(1);
  clock.advance(1);
  expect(map.get('a')).toBeUndefined();
});
