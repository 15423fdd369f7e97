import { raceAbort, untilAborted } from './abort-signal.ts';

test('work ends with the reason of its signal, before and during the work', async () => {
  const never = new Promise<string>(() => undefined);
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = raceAbort(never, signal);
  const told = untilAborted(signal);
  controller.abort(new Error('the caller left'));
  await expect(waiting).rejects.toThrow('the caller left');
  await expect(raceAbort(never, signal)).rejects.toThrow('the caller left');
  await Promise.all([told, untilAborted(signal)]);
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
