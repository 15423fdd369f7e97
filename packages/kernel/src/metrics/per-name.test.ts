import { perName } from './per-name.ts';

test('each name has its own value, and names above the maximum share one', () => {
  const made: string[] = [];
  const find = perName(2, (name) => {
    made.push(name);
    return { name };
  });
  expect(find('a')).toBe(find('a'));
  expect(find('b').name).toBe('b');
  expect(find('c')).toBe(find('d'));
  expect(find('c').name).toBe('other');
  expect(find('a').name).toBe('a');
  expect(made).toEqual(['a', 'b', 'other']);
});
