import { createOrderedCalls } from './ordered-calls.ts';

test('the calls of one caller run in order, also after a failure; other callers do not wait', async () => {
  const ordered = createOrderedCalls();
  const [one, other] = [{}, {}];
  const begun: string[] = [];
  const ended: (() => void)[] = [];
  const call = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name);
      ended.push(() => (name === 'first' ? reject(new Error(name)) : resolve(name)));
    });
  const first = ordered.run(one, call('first'));
  const second = ordered.run(one, call('second'));
  const beside = ordered.run(other, call('beside'));
  await new Promise(setImmediate);
  expect(begun).toEqual(['first', 'beside']);
  for (const end of ended) end();
  await expect(first).rejects.toThrow('first');
  expect(await beside).toBe('beside');
  await new Promise(setImmediate);
  expect(begun).toEqual(['first', 'beside', 'second']);
  ended.at(-1)?.();
  expect(await second).toBe('second');
});
