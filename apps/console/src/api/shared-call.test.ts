import { sharedCall } from './shared-call.ts';

test('the same call twice at once is one, and can be made again afterwards', async () => {
  const share = sharedCall();
  let made = 0;
  const create = async (): Promise<number> => {
    made += 1;
    return made;
  };
  expect(await Promise.all([share('a', create), share('a', create), share('b', create)])).toEqual([
    1, 1, 2,
  ]);
  expect(await share('a', create)).toBe(3);
});

test('a call that failed can be made again', async () => {
  const share = sharedCall();
  await expect(share('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await share('a', () => Promise.resolve('done'))).toBe('done');
});
