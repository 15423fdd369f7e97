import type { RpcSocket } from '../json-rpc/rpc-socket.ts';
import { createMemoryLink } from './memory-link.ts';

/** A link whose connections are opened and lost by the test. */
function setUp() {
  const lost: (() => void)[] = [];
  const closed: number[] = [];
  const link = createMemoryLink(async (onClosed) => {
    const index = lost.push(onClosed) - 1;
    const unused = (): never => {
      throw new Error('not part of this test');
    };
    const socket: RpcSocket = {
      call: unused,
      send: unused,
      notify: unused,
      close: () => void closed.push(index),
    };
    return socket;
  });
  return { link, lost, closed, open: () => link.use((opening) => opening) };
}

test('a connection is shared, and nothing is opened before it is needed', async () => {
  const { lost, open } = setUp();
  expect(lost).toHaveLength(0);
  const [first, second] = await Promise.all([open(), open()]);
  expect(await open()).toBe(first);
  expect(second).toBe(first);
});

test('a connection that was lost while unused is replaced', async () => {
  const { lost, open } = setUp();
  const first = await open();
  lost[0]?.();
  expect(await open()).not.toBe(first);
});

test('a connection on which something failed is closed after the last call on it', async () => {
  const { link, lost, closed, open } = setUp();
  let finish = (): void => undefined;
  const other = link.use(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  await expect(link.use(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await open();
  expect(lost).toHaveLength(2);
  expect(closed).toEqual([]);
  finish();
  await other;
  await new Promise(setImmediate);
  expect(closed).toEqual([0]);
  link.close();
  await new Promise(setImmediate);
  expect(closed).toEqual([0, 1]);
});

test('a connection that could not be opened is tried again by the next call', async () => {
  let attempts = 0;
  const link = createMemoryLink(() => {
    attempts += 1;
    return Promise.reject(new Error('refused'));
  });
  const use = () => link.use((opening) => opening);
  await expect(use()).rejects.toThrow('refused');
  await expect(use()).rejects.toThrow('refused');
  expect(attempts).toBe(2);
  link.close();
});
