import { createCanceller, type Cancel } from './cancel.ts';

test('listeners are told once, with the first reason', () => {
  const { cancel, abort } = bound();
  const told: unknown[] = [];
  cancel.addEventListener('abort', () => told.push(cancel.reason));
  const first = new Error('first');
  abort(first);
  abort(new Error('second'));
  expect(told).toEqual([first]);
  expect(cancel.aborted).toBe(true);
});

test('who stopped listening is not told, and who comes too late sees that it is over', () => {
  const { cancel, abort } = bound();
  const told: string[] = [];
  const listener = () => told.push('left');
  cancel.addEventListener('abort', listener);
  cancel.removeEventListener('abort', listener);
  abort(new Error('over'));
  cancel.addEventListener('abort', () => told.push('late'));
  expect(told).toEqual([]);
  expect(cancel.aborted).toBe(true);
});

test('others go on listening when one has stopped, and nobody listens twice', () => {
  const { cancel, abort } = bound();
  const told: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) => () => told.push(name));
  for (const listener of [first, second, third, third]) {
    if (listener !== undefined) cancel.addEventListener('abort', listener);
  }
  if (second !== undefined) cancel.removeEventListener('abort', second);
  const unknown = () => told.push('unknown');
  cancel.removeEventListener('abort', unknown);
  abort(new Error('over'));
  expect(told).toEqual(['first', 'third']);
});

test('an abort signal can be given where work listens', () => {
  const listens = (cancel: Cancel): boolean => cancel.aborted;
  expect(listens(AbortSignal.abort())).toBe(true);
});

function bound() {
  const canceller = createCanceller();
  return { cancel: canceller.cancel, abort: (reason: Error) => canceller.abort(reason) };
}
