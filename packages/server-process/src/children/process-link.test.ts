import { EventEmitter } from 'node:events';
import { createProcessLink, type Calls } from './process-link.ts';

interface Asked extends Calls {
  readonly double: (value: number) => Promise<number>;
  readonly fail: (value: null) => void;
  readonly wait: (value: null) => Promise<void>;
}

const served: Asked = {
  double: async (value) => 2 * value,
  fail: () => {
    throw new Error('not today');
  },
  wait: () => new Promise(() => undefined),
};

/** Two ends of a channel that carries JSON, and whether the other process still runs. */
function channelPair() {
  const state = { isOpen: true };
  const ends = [new EventEmitter(), new EventEmitter()];
  const endOf = (own: EventEmitter | undefined, other: EventEmitter | undefined) => ({
    on: (event: 'message', listener: (message: unknown) => void) => own?.on(event, listener),
    send(message: object, whenSent: (error: Error | null) => void) {
      const text = JSON.stringify(message);
      setImmediate(() => {
        if (state.isOpen) other?.emit('message', JSON.parse(text));
        whenSent(state.isOpen ? null : new Error('the channel is closed'));
      });
      return true;
    },
  });
  return { state, left: endOf(ends[0], ends[1]), right: endOf(ends[1], ends[0]), raw: ends[0] };
}

test('both ends call each other, several calls at a time', async () => {
  const { left, right } = channelPair();
  const here = createProcessLink<Asked>(left, served);
  const there = createProcessLink<Asked>(right, served);
  expect(await Promise.all([here.call('double', 1), there.call('double', 2)])).toEqual([2, 4]);
  expect(await Promise.all([here.call('double', 3), here.call('double', 4)])).toEqual([6, 8]);
});

test('a call that fails there rejects here with its reason', async () => {
  const { left, right } = channelPair();
  const here = createProcessLink<Asked>(left, {});
  createProcessLink(right, served);
  await expect(here.call('fail', null)).rejects.toThrow('not today');
});

test('messages of others on the channel are ignored', async () => {
  const { left, right, raw } = channelPair();
  const here = createProcessLink<Asked>(left, {});
  createProcessLink(right, served);
  raw?.emit('message', { 'watch:import': ['file'] });
  raw?.emit('message', 'text');
  expect(await here.call('double', 5)).toBe(10);
});

test('calls that wait fail when the other process ends, and so do those that cannot be sent', async () => {
  const { left, right, state } = channelPair();
  const here = createProcessLink<Asked>(left, {});
  createProcessLink(right, served);
  const waiting = here.call('wait', null);
  here.end('the other process has ended');
  await expect(waiting).rejects.toThrow('the other process has ended');
  state.isOpen = false;
  await expect(here.call('double', 1)).rejects.toThrow('the channel is closed');
});
