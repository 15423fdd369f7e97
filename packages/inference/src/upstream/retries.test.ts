import { startPeerTimeout, untilAborted } from '@model-gateway/kernel';
import { DEFAULT_RETRIES, type Lease } from '@model-gateway/router';
import { askWithin } from './retries.ts';

const TIMEOUT_MS = 20;

const lease: Lease = {
  model: 'm',
  backend: {
    name: 'one',
    kind: 'external',
    capabilities: () => new Set(['chat']),
    probe: async () => ({ state: 'Healthy', models: [] }),
    close: async () => undefined,
  },
  retries: { ...DEFAULT_RETRIES, timeoutMs: TIMEOUT_MS },
  nextKey: (failure) => ({ next: undefined, failure }),
  begun: () => undefined,
  lost: () => undefined,
  answered: async () => undefined,
  settle: async () => undefined,
};

/** Resolves when a time limit that begins now has passed. */
const afterTimeout = () =>
  new Promise<void>((resolve) => {
    startPeerTimeout(2 * TIMEOUT_MS, resolve);
  });

test('a target that has begun to answer may take longer than its time until the first byte', async () => {
  const answer = await askWithin(
    lease,
    new AbortController().signal,
    async (_lease, signal, onFirstByte) => {
      onFirstByte?.();
      await afterTimeout();
      return signal.aborted ? 'aborted' : 'answered';
    },
  );
  expect(answer).toBe('answered');
});

test('one that has not begun may not', async () => {
  const asking = askWithin(lease, new AbortController().signal, async (_lease, signal) => {
    await untilAborted(signal);
    throw signal.reason;
  });
  await expect(asking).rejects.toMatchObject({ isTimeout: true });
});

test('a client that leaves ends one that has begun', async () => {
  const controller = new AbortController();
  const left = new Error('left');
  const asking = askWithin(lease, controller.signal, async (_lease, signal, onFirstByte) => {
    onFirstByte?.();
    controller.abort(left);
    await untilAborted(signal);
    throw signal.reason;
  });
  await expect(asking).rejects.toBe(left);
});
