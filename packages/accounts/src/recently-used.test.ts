import { createRecentlyUsed } from './recently-used.ts';

test('what is used stays, and what is not makes way', () => {
  const map = createRecentlyUsed<number>(10);
  map.set('used', 0);
  for (let index = 1; index <= 100; index += 1) {
    map.set(`n${index}`, index);
    expect(map.get('used')).toBe(0);
  }
  expect(map.get('n100')).toBe(100);
  expect(map.get('n96')).toBe(96);
  expect(map.get('n80')).toBeUndefined();
});

test('it holds no more than it has room for', () => {
  const map = createRecentlyUsed<number>(10);
  for (let index = 0; index < 100; index += 1) map.set(`n${index}`, index);
  let held = 0;
  map.deleteWhere(() => {
    held += 1;
    return false;
  });
  expect(held).toBeGreaterThan(4);
  expect(held).toBeLessThanOrEqual(10);
});

test('what is deleted, changed or cleared is so in both halves', () => {
  const map = createRecentlyUsed<string>(4);
  for (const key of ['a', 'b', 'c']) map.set(key, `first ${key}`);
  map.set('a', 'second');
  expect(map.get('a')).toBe('second');
  map.delete('b');
  expect(map.get('b')).toBeUndefined();
  map.deleteWhere((value) => value === 'second');
  expect(map.get('a')).toBeUndefined();
  expect(map.get('c')).toBe('first c');
  map.clear();
  expect(map.get('c')).toBeUndefined();
});
