import { manualClock } from '@model-gateway/kernel';
import { createBoundedExpiringMap, type BoundedExpiringMap } from './bounded-expiring-map.ts';

const valuesOf = (map: BoundedExpiringMap<number>, keys: readonly string[]): unknown =>
  keys.map((key) => map.get(key)?.value);

test('when it is full, the entry that would expire soonest makes way', () => {
  const map = createBoundedExpiringMap<number>({ clock: manualClock(0), entriesMax: 3 });
  map.set('b', 2, 200);
  map.set('a', 1, 100);
  map.set('c', 3, 300);
  map.set('d', 4, 50);
  expect(valuesOf(map, ['a', 'b', 'c', 'd'])).toEqual([undefined, 2, 3, 4]);
  map.set('e', 5, 500);
  expect(valuesOf(map, ['b', 'c', 'd', 'e'])).toEqual([2, 3, undefined, 5]);
});

test('an entry counts by its latest expiry, and replacing it takes no room', () => {
  const map = createBoundedExpiringMap<number>({ clock: manualClock(0), entriesMax: 2 });
  map.set('a', 1, 100);
  map.set('b', 2, 200);
  map.set('a', 3, 300);
  expect(valuesOf(map, ['a', 'b'])).toEqual([3, 2]);
  map.set('c', 4, 400);
  expect(valuesOf(map, ['a', 'b', 'c'])).toEqual([3, undefined, 4]);
});

test('an expired or removed entry makes way before a live one', () => {
  const clock = manualClock(0);
  const map = createBoundedExpiringMap<number>({ clock, entriesMax: 3 });
  map.set('a', 1, 100);
  map.set('b', 2, 200);
  map.set('c', 3, 300);
  clock.advance(100);
  expect(map.get('a')).toBeUndefined();
  map.delete('c');
  map.set('d', 4, 400);
  map.set('e', 5, 500);
  expect(valuesOf(map, ['b', 'd', 'e'])).toEqual([2, 4, 5]);
});

test('entries that slide for long keep their order and the map its bound', () => {
  const clock = manualClock(0);
  const map = createBoundedExpiringMap<number>({ clock, entriesMax: 10 });
  for (let step = 0; step < 10_000; step += 1) {
    clock.advance(1);
    map.set(`key ${step % 20}`, step, clock.now() + 1_000_000 + ((step * 7919) % 1_000));
  }
  const live = Array.from({ length: 20 }, (_, index) => map.get(`key ${index}`));
  expect(live.filter((entry) => entry !== undefined)).toHaveLength(10);
});
