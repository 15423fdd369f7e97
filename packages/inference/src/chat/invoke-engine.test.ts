import { ServiceError } from '@model-gateway/contracts';
import { createMetrics } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease, type Router } from '@model-gateway/router';
import { invokeEngine } from './invoke-engine.ts';
import { createUpstreamTelemetry } from '../upstream/upstream-telemetry.ts';

type Invoke = NonNullable<Lease['backend']['invoke']>;

/** Invokes through a router that knows one backend; also returns what was reported to the breaker. */
async function invoking(invoke: Invoke | undefined, timeoutMs = 1_000) {
  const settled: unknown[] = [];
  const lease: Lease = {
    model: 'm:latest',
    backend: {
      name: 'up',
      kind: 'engine',
      capabilities: () => new Set(['invoke']),
      probe: async () => ({ state: 'Healthy', models: [] }),
      ...(invoke === undefined ? {} : { invoke }),
      close: async () => undefined,
    },
    nextKey: (failure) => ({ next: undefined, failure }),
    begun: () => undefined,
    lost: () => undefined,
    answered: async () => undefined,
    settle: async (outcome) => void settled.push(outcome),
  };
  const call = { model: 'm', method: 'sensor.ingest', params: { x: 1 } };
  const router: Pick<Router, 'choose'> = {
    async choose(_model, { exclude = [] } = {}) {
      if (exclude.length === 0) return lease;
      throw new ServiceError('all_backends_unhealthy', 'no other');
    },
  };
  const telemetry = createUpstreamTelemetry({ metrics: createMetrics() });
  const invoked = invokeEngine(call, { router, telemetry, timeoutMs });
  const answer = await invoked.catch((error: unknown) => error);
  return { answer, settled };
}

const untilCancelled = (cancel: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    cancel.addEventListener('abort', () => {
      reject(new UpstreamFailure(String(cancel.reason), { isBackendAtFault: false }));
    });
  });

test('an engine is called with the name that it lists', async () => {
  const { answer, settled } = await invoking(async (...args) => args.slice(0, 3));
  expect(answer).toEqual(['m:latest', 'sensor.ingest', { x: 1 }]);
  expect(settled).toEqual(['success']);
});

test('an engine that does not answer in time has failed', async () => {
  const { answer, settled } = await invoking((_m, _n, _p, cancel) => untilCancelled(cancel), 10);
  expect(answer).toMatchObject({ message: expect.stringContaining('took longer than 10 ms') });
  expect(settled).toEqual(['failure']);
});

test.each([
  { isBackendAtFault: true, outcome: 'failure' },
  { isBackendAtFault: false, outcome: 'neutral' },
])('a failure is tried once: $outcome', async ({ isBackendAtFault, outcome }) => {
  let calls = 0;
  const failure = new UpstreamFailure('no', { isBackendAtFault });
  const { answer, settled } = await invoking(() => {
    calls += 1;
    return Promise.reject(failure);
  });
  expect({ answer, settled, calls }).toEqual({ answer: failure, settled: [outcome], calls: 1 });
});

test('a backend without this method is reported', async () => {
  const { answer, settled } = await invoking(undefined);
  expect(answer).toMatchObject({ code: 'unsupported_operation' });
  expect(settled).toEqual(['neutral']);
});
