import { createOrderedPush } from './ordered-push.ts';

function setup() {
  const batches: (readonly string[])[] = [];
  const arrive: (() => void)[] = [];
  const output = createOrderedPush(
    {
      push: (_sessionId, lines) => {
        batches.push(lines.split('\n'));
        return new Promise((resolve) => {
          arrive.push(resolve);
        });
      },
    },
    'session',
  );
  return { output, batches, arrive: () => arrive.shift()?.() };
}

test('a notification is sent immediately; those added meanwhile are sent together, in order', async () => {
  const { output, batches, arrive } = setup();
  for (const text of ['one', 'two', 'three']) expect(output.push(text)).toBeUndefined();
  expect(batches).toEqual([['one']]);
  const settled = output.settled();
  arrive();
  await new Promise(setImmediate);
  expect(batches).toEqual([['one'], ['two', 'three']]);
  arrive();
  await settled;
  await output.settled();
  expect(output.push('four')).toBeUndefined();
  expect(batches.at(-1)).toEqual(['four']);
});

test.each([
  { why: 'many', notification: 'x', count: 256 },
  { why: 'large', notification: 'x'.repeat(32 * 1024), count: 2 },
])(
  'a sender with too $why notifications waits until the queue is sent',
  async ({ notification, count }) => {
    const { output, batches, arrive } = setup();
    void output.push('first');
    const results = Array.from({ length: count }, () => output.push(notification));
    expect(results.filter((drained) => drained !== undefined)).toEqual([results.at(-1)]);
    arrive();
    await results.at(-1);
    expect(batches[1]).toHaveLength(count);
    arrive();
    await output.settled();
  },
);

test('a text with several lines is sent on one line', () => {
  const { output, batches } = setup();
  void output.push('{\r\n  "a": 1\n}');
  expect(batches).toEqual([['{    "a": 1 }']]);
});
