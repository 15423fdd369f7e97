import { newTimedId } from './ids.ts';

test('a timed id is a UUID of version 7 that begins with the time and sorts by it', () => {
  const before = Date.now();
  const ids = Array.from({ length: 1_000 }, newTimedId);
  const after = Date.now();
  for (const id of ids) {
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u);
    const time = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(after);
  }
  expect(new Set(ids).size).toBe(ids.length);
});
