import { manualClock } from '@model-gateway/kernel';
import { createRecentMap } from './recent-map.ts';

test('when it is full, the least recently used entry makes way', () => {
  const map = createRecentMap<number>({ clock: manualClock(0), entriesMax: 2 });
  map.set('a', 1, 100);
  map.set('b', 2, 200);
  expect(map.get('a')?.value).toBe(1);
  map.set('c', 3, 50);
  expect(['a', 'b', 'c'].map((key) => map.get(key)?.value)).toEqual([1, undefined, 3]);
});

test('an expired entry is gone', () => {
  const clock = manualClock(0);
  const map = createRecentMap<number>({ clock, entriesMax: 2 });
  map.set('a', 1, 100);
  clock.advance(100);
  expect(map.get('a')).toBeUndefined();
});
