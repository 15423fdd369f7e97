import { ServiceError } from '@model-gateway/contracts';
import { createUpstreamTelemetry, type VideoWork } from '@model-gateway/inference';
import { createMetrics, manualClock, silentLog } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease } from '@model-gateway/router';
import { createVideoTiming } from '../video-timing.ts';
import { createSubmit } from './submit.ts';

const clock = manualClock(1_000_000);

const work: VideoWork = {
  id: 'job',
  userId: 'user',
  model: 'nice',
  status: 'queued',
  progress: 0,
  result: null,
  error: null,
  cost: 0,
  createdAt: new Date(clock.now()),
  payer: {
    userId: 'user',
    keyId: null,
    apiKeyId: 'jwt-user',
    project: null,
    groupId: null,
    multiplier: 1,
  },
  resolvedModel: 'v-1',
  order: { prompt: 'a cat', provider: 'left' },
  allowedModels: null,
  backend: null,
  servedModel: null,
  cancelling: null,
};

interface SceneOptions {
  /** What the upstream does with a submission. */
  readonly submitted?: () => Promise<{ readonly taskId: string }>;
  readonly chosen?: string | undefined;
  readonly begin?: () => Promise<boolean>;
  /** Why no backend can be chosen. */
  readonly unavailable?: ServiceError;
}

/** The submit step with ports that record their calls. */
function scene({ submitted, chosen = 'left', begin, unavailable }: SceneOptions = {}) {
  const notes: string[] = [];
  const note = <Value>(text: string, value: Value): Promise<Value> => {
    notes.push(text);
    return Promise.resolve(value);
  };
  const lease: Lease = {
    backend: {
      name: chosen,
      kind: 'cloud-video',
      capabilities: () => new Set(['video'] as const),
      probe: () => Promise.resolve({ state: 'Healthy', models: [] }),
      submitVideo: (_body, { idempotencyKey }) => {
        notes.push(`submit ${idempotencyKey}`);
        return submitted?.() ?? Promise.resolve({ taskId: 'task' });
      },
      close: () => Promise.resolve(),
    },
    model: 'v-1',
    nextKey: (failure) => ({ next: undefined, failure }),
    begun: () => undefined,
    lost: () => undefined,
    answered: () => Promise.resolve(),
    settle: (outcome) =>
      note(`settle ${typeof outcome === 'string' ? outcome : outcome.kind}`, undefined),
  };
  const submit = createSubmit({
    jobs: {
      images: () => Promise.resolve([]),
      startSubmission: (_id, { backend }) => note(`start ${backend}`, true),
      undoSubmission: () => note('undo', undefined),
      begin: (_id, taskId) => begin?.() ?? note(`begin ${taskId}`, true),
      addCancelledTask: (_id, taskId) => note(`cancelled ${taskId}`, true),
    },
    telemetry: createUpstreamTelemetry({ metrics: createMetrics() }),
    router: {
      async choose(_model, { provider, resolved } = {}) {
        if (unavailable !== undefined) throw unavailable;
        return note(`choose ${resolved} ${JSON.stringify(provider)}`, lease);
      },
    },
    notifications: { progress: (_id, progress) => note(`notify ${progress}`, undefined) },
    fail: (_id, { message }) => note(`fail ${message}`, undefined),
    timing: createVideoTiming({ pollMs: 2_000, timeoutSecs: 60, clock }),
    log: silentLog,
  });
  return { submit, notes };
}

test('a submission is stored before it is sent, and its task before the notification', async () => {
  const { submit, notes } = scene();
  expect(await submit(work, {})).toEqual({ afterMs: 2_000 });
  expect(notes).toEqual([
    'choose v-1 "left"',
    'start left',
    'submit job',
    'settle success',
    'begin task',
    'notify 0',
    'settle neutral',
  ]);
});

test('a task that cannot be stored is kept in the queue, and not submitted again', async () => {
  const unavailable = () => Promise.reject(new ServiceError('store_unavailable', 'unavailable'));
  const first = scene({ begin: unavailable });
  const next = await first.submit(work, {});
  expect(next).toEqual({ afterMs: 2_000, memo: { taskId: 'task' } });
  const second = scene();
  expect(await second.submit(work, next?.memo ?? {})).toEqual({ afterMs: 2_000 });
  expect(second.notes).toEqual(['begin task', 'notify 0']);
});

test('a job with an earlier submission goes to the same backend, or waits for it', async () => {
  const begun = { ...work, backend: 'right', servedModel: 'v-1' };
  const elsewhere = scene({ chosen: 'left' });
  expect(await elsewhere.submit(begun, {})).toEqual({ afterMs: 4_000, memo: { failures: 1 } });
  expect(elsewhere.notes).toEqual(['choose v-1 "right"', 'settle neutral']);
  const there = scene({ chosen: 'right' });
  await there.submit(begun, {});
  expect(there.notes).toContain('submit job');
});

test('a submission without effect is undone, and one with a possible effect fails the job', async () => {
  const failing = (hadNoEffect: boolean) => () =>
    Promise.reject(new UpstreamFailure('no', { isBackendAtFault: true, hadNoEffect }));
  const without = scene({ submitted: failing(true) });
  expect(await without.submit(work, {})).toEqual({ afterMs: 4_000, memo: { failures: 1 } });
  expect(without.notes.slice(3)).toEqual(['settle failure', 'undo', 'settle neutral']);
  const perhaps = scene({ submitted: failing(false) });
  expect(await perhaps.submit(work, {})).toBeUndefined();
  expect(perhaps.notes.slice(3)).toEqual(['settle failure', 'fail no', 'settle neutral']);
});

test('the task of a job that was cancelled while it was submitted is cancelled in the next step', async () => {
  const { submit, notes } = scene({ begin: () => Promise.resolve(false) });
  expect(await submit(work, {})).toEqual({ afterMs: 0 });
  expect(notes).toContainEqual(expect.stringMatching(/^cancelled /));
  expect(notes).not.toContain('notify 0');
});

test.each([
  { code: 'rate_limit_exceeded', message: 'try again in 5 s', error: 'try again in 5 s' },
  {
    code: 'all_backends_unhealthy',
    message: 'all backends unhealthy',
    error: 'no healthy video-capable backend serves the model: nice',
  },
] as const)('a job waits while no backend takes it: $code', async ({ code, message, error }) => {
  const unavailable = new ServiceError(code, message);
  const { submit, notes } = scene({ unavailable });
  expect(await submit(work, {})).toEqual({ afterMs: 4_000, memo: { failures: 1 } });
  const late = { ...work, createdAt: new Date(clock.now() - 61_000) };
  expect(await submit(late, {})).toBeUndefined();
  expect(notes).toEqual([`fail not finished within 60 s: ${error}`]);
});

test('a rate limit of the upstream does not count in its circuit breaker', async () => {
  const limited = { isBackendAtFault: true, hadNoEffect: true, isRateLimit: true };
  const submitted = () => Promise.reject(new UpstreamFailure('slow down', limited));
  const { submit, notes } = scene({ submitted });
  await submit(work, {});
  expect(notes.slice(3)).toEqual(['settle rate_limited', 'undo', 'settle neutral']);
});
