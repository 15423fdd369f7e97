import { createPendingCalls } from './pending-calls.ts';

const read = (answer: string): string => answer.toUpperCase();

test('each call gets its own answer, and an answer that no call waits for is reported', async () => {
  const calls = createPendingCalls<number, string>();
  const [first, second] = [calls.add(1, read), calls.add(2, read)];
  expect(calls.settle(2, 'b')).toBe(true);
  expect(calls.settle(1, 'a')).toBe(true);
  expect(calls.settle(1, 'a')).toBe(false);
  expect(await Promise.all([first, second])).toEqual(['A', 'B']);
  expect(calls.size).toBe(0);
});

test('what reading throws fails that call alone', async () => {
  const calls = createPendingCalls<number, string>();
  const unreadable = calls.add(1, () => {
    throw new Error('broken');
  });
  const other = calls.add(2, read);
  calls.settle(1, 'a');
  calls.settle(2, 'b');
  await expect(unreadable).rejects.toThrow('broken');
  expect(await other).toBe('B');
});

test('a call that is given up fails, and its late answer belongs to no call', async () => {
  const calls = createPendingCalls<number, string>();
  const call = calls.add(1, read);
  expect(calls.fail(1, new Error('too late'))).toBe(true);
  expect(calls.fail(1, new Error('again'))).toBe(false);
  expect(calls.settle(1, 'a')).toBe(false);
  await expect(call).rejects.toThrow('too late');
});

test('the end of the connection fails every call', async () => {
  const calls = createPendingCalls<number, string>();
  const waiting = [calls.add(1, read), calls.add(2, read)];
  calls.failAll(new Error('closed'));
  for (const call of waiting) await expect(call).rejects.toThrow('closed');
  expect(calls.size).toBe(0);
});
