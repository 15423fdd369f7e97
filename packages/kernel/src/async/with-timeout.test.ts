import { withTimeout } from './with-timeout.ts';

const never = new Promise<string>(() => undefined);

test('work that is done in time gives its result, or its failure', async () => {
  await expect(withTimeout(Promise.resolve('done'), 60_000)).resolves.toBe('done');
  await expect(withTimeout(Promise.reject(new Error('broken')), 60_000)).rejects.toThrow('broken');
});

test('work that takes longer is an error, or what the caller makes of it', async () => {
  await expect(withTimeout(never, 1)).rejects.toThrow('not done within 1 ms');
  await expect(withTimeout(never, 1, () => 'late')).resolves.toBe('late');
});

test('a failure that comes too late is no unhandled rejection', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  await expect(withTimeout(work, 1, () => 'late')).resolves.toBe('late');
  fail(new Error('too late'));
  await expect(work).rejects.toThrow('too late');
});
