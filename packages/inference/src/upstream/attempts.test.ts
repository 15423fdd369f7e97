import { ServiceError } from '@model-gateway/contracts';
import { createMetrics } from '@model-gateway/kernel';
import {
  UnsupportedByBackend,
  UpstreamFailure,
  type Lease,
  type RouteOutcome,
  type TargetName,
} from '@model-gateway/router';
import { attempt, settleFailure } from './attempts.ts';
import { createUpstreamTelemetry } from './upstream-telemetry.ts';

const telemetry = createUpstreamTelemetry({ metrics: createMetrics() });

const routeTo = (name: string): Lease => ({
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
});

async function chooseNext(names: string[]): Promise<Lease> {
  const name = names.shift();
  if (name === undefined) throw new ServiceError('all_backends_unhealthy', 'no other');
  return routeTo(name);
}

/** Calls backends that fail with these in turn; the client leaves during the last call. */
async function leftAt(...failures: readonly unknown[]): Promise<readonly string[]> {
  const left: string[] = [];
  const controller = new AbortController();
  const names = ['first', 'second'];
  const remaining = [...failures];
  const calling = attempt(
    { router: { choose: () => chooseNext(names) }, telemetry },
    {
      model: 'm',
      capability: 'chat',
      signal: controller.signal,
      onAccepted: () => undefined,
      onLeft: async ({ model }) => void left.push(model),
    },
    async () => {
      const failure = remaining.shift();
      if (remaining.length === 0) controller.abort(new Error('the client left'));
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
    failures: [new UnsupportedByBackend('unsupported_operation', 'no')],
    expected: [],
  },
])('a client that leaves a backend that $why', async ({ failures, expected }) => {
  expect(await leftAt(...failures)).toEqual(expected);
});

const unsupported = new UnsupportedByBackend('unsupported_operation', 'cannot');
const limited = new UpstreamFailure('slow down', { isBackendAtFault: true, status: 429 });
const rejected = new UpstreamFailure('no', { isBackendAtFault: false, status: 400 });

test.each<{
  readonly why: string;
  readonly answers: readonly unknown[];
  readonly result: unknown;
  readonly tried: readonly string[];
}>([
  {
    why: 'every backend that cannot take it is skipped',
    answers: [unsupported, unsupported, 'fine'],
    result: 'fine',
    tried: ['a', 'b', 'c'],
  },
  {
    why: 'skipping is not the one retry',
    answers: [unsupported, broken, unsupported, 'fine'],
    result: 'fine',
    tried: ['a', 'b', 'c', 'd'],
  },
  {
    why: 'there is one retry',
    answers: [broken, broken, 'fine'],
    result: broken,
    tried: ['a', 'b'],
  },
  {
    why: 'a rate limit is retried elsewhere',
    answers: [limited, 'fine'],
    result: 'fine',
    tried: ['a', 'b'],
  },
  { why: 'a refusal is not', answers: [rejected, 'fine'], result: rejected, tried: ['a'] },
  {
    why: 'a failure says more than that the others cannot take it',
    answers: [broken, unsupported, unsupported, unsupported],
    result: broken,
    tried: ['a', 'b', 'c', 'd'],
  },
  {
    why: 'if no backend can take it, that is the error',
    answers: [unsupported, unsupported, unsupported, unsupported],
    result: unsupported,
    tried: ['a', 'b', 'c', 'd'],
  },
])('a request is tried until one serves it: $why', async ({ answers, result, tried }) => {
  const called: string[] = [];
  const remaining = [...answers];
  const names = ['a', 'b', 'c', 'd'];
  const excluded: unknown[] = [];
  const choose = (
    _model: string,
    { exclude = [] }: { exclude?: readonly TargetName[] | undefined } = {},
  ) => {
    excluded.push(exclude.map(({ backend }) => backend));
    return chooseNext(names);
  };
  const calling = attempt(
    { router: { choose }, telemetry },
    {
      model: 'm',
      capability: 'chat',
      signal: new AbortController().signal,
      onAccepted: () => undefined,
    },
    async ({ backend }) => {
      called.push(backend.name);
      const answer = remaining.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  );
  const ended = await calling.then(
    ({ answer }) => answer,
    (error: unknown) => error,
  );
  expect(ended).toBe(result);
  expect(called).toEqual(tried);
  expect(excluded.slice(0, tried.length)).toEqual(
    tried.map((_name, count) => tried.slice(0, count)),
  );
});

test.each([
  { why: 'a rate limit', failure: limited, outcome: { kind: 'rate_limited', forMs: 5_000 } },
  { why: 'a failure of the backend', failure: broken, outcome: 'failure' },
  { why: 'a refusal', failure: rejected, outcome: 'request_refused' },
  {
    why: 'a failure that the backend answered',
    failure: new UpstreamFailure('no', { isBackendAtFault: true, status: 500 }),
    outcome: 'server_error',
  },
  { why: 'something else', failure: unsupported, outcome: 'neutral' },
])('the router learns of $why', async ({ failure, outcome }) => {
  const outcomes: RouteOutcome[] = [];
  const tracked = telemetry.begin('chat', { name: 'a' }, 'm');
  const lease: Lease = {
    ...routeTo('a'),
    settle: async (told) => void outcomes.push(told),
  };
  await settleFailure({ lease, tracked }, failure, new AbortController().signal);
  expect(outcomes).toEqual([outcome]);
});

describe('a hedged request', () => {
  const retries = { attempts: 2, retryOn: [], hedgeAfterMs: 1 } satisfies Lease['retries'];

  /** Its first target answers when the second was to be chosen, or never. */
  async function hedge(chooseSecond: () => Promise<Lease>, isFirstAnswering: boolean) {
    const lost: string[] = [];
    let onSecondChoice = (): void => undefined;
    const secondChoice = new Promise<void>((resolve) => void (onSecondChoice = resolve));
    const choose = async (
      _model: string,
      { exclude }: { exclude?: readonly TargetName[] } = {},
    ) => {
      const lease = exclude === undefined ? routeTo('first') : await chooseSecond();
      return {
        ...lease,
        retries,
        lost: (kind: string) => void lost.push(`${lease.model} ${kind}`),
      };
    };
    const { answer } = await attempt(
      {
        telemetry,
        router: {
          choose: (...query) =>
            choose(...(query as Parameters<typeof choose>)).finally(() => {
              if (query[1]?.exclude !== undefined) onSecondChoice();
            }),
        },
      },
      {
        model: 'm',
        capability: 'chat',
        signal: new AbortController().signal,
        onAccepted: () => undefined,
        unbilled: () => ({ prompt_tokens: 1, cost: null }),
        answerKind: 'whole',
      },
      async ({ model }) => {
        if (model === 'first') await secondChoice;
        if (model === 'first' && !isFirstAnswering) await new Promise(() => undefined);
        return model;
      },
    );
    return { answer, lost };
  }

  test('reports the target that was slower', async () => {
    const outcome = await hedge(async () => routeTo('second'), false);
    expect(outcome).toEqual({ answer: 'second', lost: ['first whole'] });
  });

  test('is answered by the first target when choosing a second one fails', async () => {
    const outcome = await hedge(() => Promise.reject(new Error('the store is away')), true);
    expect(outcome).toEqual({ answer: 'first', lost: [] });
  });
});
