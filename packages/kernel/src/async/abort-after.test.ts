import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { abortAfter } from './abort-after.ts';

const never = new AbortController().signal;
const aborted = (signal: AbortSignal): Promise<unknown> =>
  once(signal, 'abort').then(() => signal.reason as unknown);

test('the signal aborts after the time, also if garbage is collected before', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const reason = await abortAfter(50, never, (signal) => {
    setTimeout(collect, 10);
    return aborted(signal);
  });
  expect(reason).toMatchObject({ name: 'TimeoutError', message: 'no answer within 50 ms' });
});

test('the signal aborts with the other one, with its reason', async () => {
  const other = new AbortController();
  const reason = abortAfter(60_000, other.signal, aborted);
  other.abort('stopping');
  expect(await reason).toBe('stopping');
  expect(await abortAfter(60_000, other.signal, async ({ reason: why }) => why as unknown)).toBe(
    'stopping',
  );
});

test('the result or the error of the work is passed on', async () => {
  expect(await abortAfter(60_000, never, async ({ aborted: isAborted }) => isAborted)).toBe(false);
  await expect(abortAfter(60_000, never, () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
});
