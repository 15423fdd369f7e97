import { createMetrics, startPeerTimeout, untilAborted } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease } from '@model-gateway/router';
import { askTarget, race } from './hedge.ts';
import { createUpstreamTelemetry } from './upstream-telemetry.ts';

const telemetry = createUpstreamTelemetry({ metrics: createMetrics() });
const AFTER_MS = 1;

type Ask = Parameters<typeof askTarget<string>>[1]['ask'];

const target = (name: string, ask: Ask) => {
  const lease: Lease = {
    model: name,
    backend: {
      name,
      kind: 'external',
      capabilities: () => new Set(['chat']),
      probe: async () => ({ state: 'Healthy', models: [] }),
      close: async () => undefined,
    },
    nextKey: (failure) => ({ next: undefined, failure }),
    begun: () => undefined,
    lost: () => undefined,
    answered: async () => undefined,
    settle: async () => undefined,
  };
  const { signal } = new AbortController();
  return askTarget(lease, { telemetry, capability: 'chat', signal, ask });
};

const hanging: Ask = async (_route, signal) => {
  await untilAborted(signal);
  throw signal.reason;
};

test('a whole answer whose first byte has arrived is waited for', async () => {
  const first = target('first', async (_route, _signal, onFirstByte) => {
    onFirstByte?.();
    await new Promise<void>((resolve) => void startPeerTimeout(20 * AFTER_MS, resolve));
    return 'answer';
  });
  let isSecondAsked = false;
  const { winner, loser } = await race(first, AFTER_MS, async () => {
    isSecondAsked = true;
    return undefined;
  });
  expect([winner?.answer, loser, isSecondAsked]).toEqual(['answer', undefined, false]);
});

/** A first target that hangs, and a second that begins at once and ends when the first was cancelled. */
async function overtaken(end: () => string) {
  let isLeft = (): void => undefined;
  const left = new Promise<void>((resolve) => void (isLeft = resolve));
  const first = target('first', (...call) => hanging(...call).finally(isLeft));
  return race(first, AFTER_MS, async () =>
    target('second', async (_route, _signal, onFirstByte) => {
      onFirstByte?.();
      await left;
      return end();
    }),
  );
}

test('the other is cancelled as soon as one has begun', async () => {
  const { winner, loser } = await overtaken(() => 'answer');
  expect([winner?.answer, winner?.target.lease.model]).toEqual(['answer', 'second']);
  expect(loser?.lease.model).toBe('first');
});

test('one that breaks off after it has begun has failed, and the other stays cancelled', async () => {
  const broken = new UpstreamFailure('broken', { isBackendAtFault: true });
  const { winner, loser, failed } = await overtaken(() => {
    throw broken;
  });
  expect(winner).toBeUndefined();
  expect(loser?.lease.model).toBe('first');
  expect(failed.map(({ failure }) => failure)).toEqual([broken]);
});
