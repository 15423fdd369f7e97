import { createCanceller, raceAbort, untilAborted, type Cancel } from './cancel.ts';

test('listeners are called once, with the first reason', () => {
  const { cancel, abort } = bound();
  const calls: unknown[] = [];
  cancel.addEventListener('abort', () => calls.push(cancel.reason));
  const first = new Error('first');
  abort(first);
  abort(new Error('second'));
  expect(calls).toEqual([first]);
  expect(cancel.aborted).toBe(true);
});

test('a removed listener is not called, and a late one can see that it was aborted', () => {
  const { cancel, abort } = bound();
  const calls: string[] = [];
  const listener = () => calls.push('left');
  cancel.addEventListener('abort', listener);
  cancel.removeEventListener('abort', listener);
  abort(new Error('over'));
  cancel.addEventListener('abort', () => calls.push('late'));
  expect(calls).toEqual([]);
  expect(cancel.aborted).toBe(true);
});

test('other listeners stay when one is removed, and none is added twice', () => {
  const { cancel, abort } = bound();
  const calls: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) => () => calls.push(name));
  for (const listener of [first, second, third, third]) {
    if (listener !== undefined) cancel.addEventListener('abort', listener);
  }
  if (second !== undefined) cancel.removeEventListener('abort', second);
  const unknown = () => calls.push('unknown');
  cancel.removeEventListener('abort', unknown);
  abort(new Error('over'));
  expect(calls).toEqual(['first', 'third']);
});

test('an AbortSignal is accepted as a Cancel', () => {
  const isAborted = (cancel: Cancel): boolean => cancel.aborted;
  expect(isAborted(AbortSignal.abort())).toBe(true);
});

function bound() {
  const canceller = createCanceller();
  return { cancel: canceller.cancel, abort: (reason: Error) => canceller.abort(reason) };
}

test('work ends with the reason of its signal, before and during the work', async () => {
  const never = new Promise<string>(() => undefined);
  const canceller = createCanceller();
  const { cancel } = canceller;
  const waiting = raceAbort(never, cancel);
  const told = untilAborted(cancel);
  canceller.abort(new Error('the caller left'));
  await expect(waiting).rejects.toThrow('the caller left');
  await expect(raceAbort(never, cancel)).rejects.toThrow('the caller left');
  await Promise.all([told, untilAborted(cancel)]);
});

test('work that ends by itself keeps nothing of its signal', async () => {
  const controller = new AbortController();
  await expect(raceAbort(Promise.resolve('done'), controller.signal)).resolves.toBe('done');
  const failure = raceAbort(
    new Promise(() => undefined),
    controller.signal,
    () => new Error('ours'),
  );
  controller.abort();
  await expect(failure).rejects.toThrow('ours');
});
