import { ServiceError } from '@model-gateway/contracts';
import { createCanceller, createMetrics } from '@model-gateway/kernel';
import { UpstreamFailure, type Route } from '@model-gateway/router';
import { attempt } from './attempts.ts';
import { createUpstreamTelemetry } from './upstream-telemetry.ts';

const telemetry = createUpstreamTelemetry({ metrics: createMetrics() });

const routeTo = (name: string): Route => ({
  model: name,
  backend: {
    name,
    kind: 'external',
    capabilities: () => new Set(['chat']),
    probe: async () => ({ state: 'Healthy', models: [] }),
    close: async () => undefined,
  },
  answered: async () => undefined,
  settle: async () => undefined,
});

/** Calls backends that fail with these in turn; the client leaves during the last call. */
async function leftAt(...failures: readonly unknown[]): Promise<readonly string[]> {
  const left: string[] = [];
  const canceller = createCanceller();
  const names = ['first', 'second'];
  const remaining = [...failures];
  const calling = attempt(
    { router: { choose: async () => routeTo(names.shift() ?? '') }, telemetry },
    {
      model: 'm',
      capability: 'chat',
      signal: canceller.cancel,
      onAccepted: () => undefined,
      onLeft: async ({ model }) => void left.push(model),
    },
    async () => {
      const failure = remaining.shift();
      if (remaining.length === 0) canceller.abort(new Error('the client left'));
      throw failure;
    },
  );
  await expect(calling).rejects.toBe(failures.at(-1));
  return left;
}

const aborted = new UpstreamFailure('aborted', { isBackendAtFault: false });
const broken = new UpstreamFailure('broken', { isBackendAtFault: true });

test.each([
  { why: 'works on the request', failures: [aborted], expected: ['first'] },
  { why: 'is the second', failures: [broken, aborted], expected: ['second'] },
  {
    why: 'was never sent the request',
    failures: [new UpstreamFailure('aborted', { isBackendAtFault: false, hadNoEffect: true })],
    expected: [],
  },
  {
    why: 'refused the request',
    failures: [new UpstreamFailure('no', { isBackendAtFault: false, status: 400 })],
    expected: [],
  },
  {
    why: 'cannot do it',
    failures: [new ServiceError('unsupported_operation', 'no')],
    expected: [],
  },
])('a client that leaves a backend that $why', async ({ failures, expected }) => {
  expect(await leftAt(...failures)).toEqual(expected);
});
