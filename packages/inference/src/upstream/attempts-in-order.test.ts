import { ServiceError } from '@model-gateway/contracts';
import { createMetrics } from '@model-gateway/kernel';
import { outcomeOf, UpstreamFailure, type Lease, type Router } from '@model-gateway/router';
import { createRequestTrace } from '../usage/request-trace.ts';
import { attempt, type RouteRequest } from './attempts.ts';
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

const broken = new UpstreamFailure('broken', { isBackendAtFault: true });
const limited = new UpstreamFailure('slow down', { isBackendAtFault: true, status: 429 });
const rejected = new UpstreamFailure('no', { isBackendAtFault: false, status: 400 });

describe('a request with other models', () => {
  /** Its models are each served by one backend of the same name; the calls end like this. */
  async function send(answers: unknown[], options: Partial<RouteRequest> = {}) {
    const called: string[] = [];
    const excluded: unknown[] = [];
    let accepted = 0;
    const choose: Router['choose'] = async (model, { exclude = [] } = {}) => {
      excluded.push(exclude.map(({ backend }) => backend));
      if (model === 'none' || exclude.some(({ backend }) => backend === model))
        throw new ServiceError('all_backends_unhealthy', `nothing serves ${model}`);
      return routeTo(model);
    };
    const query: RouteRequest = {
      model: 'a',
      resolved: 'a',
      fallbacks: ['b', 'a', 'b', 'c'].map((model) => ({ model, resolved: model })),
      capability: 'chat',
      signal: new AbortController().signal,
      onAccepted: () => void (accepted += 1),
      ...options,
    };
    const ended = await attempt({ router: { choose }, telemetry }, query, async ({ model }) => {
      called.push(model);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }).then(
      ({ answer }) => answer,
      (error: unknown) => error,
    );
    return { called, ended, excluded, accepted };
  }

  test('tries each of them once, and none on a target that was tried', async () => {
    const { called, ended, excluded, accepted } = await send([broken, rejected, 'fine']);
    expect([called, ended, accepted]).toEqual([['a', 'b', 'c'], 'fine', 1]);
    // The second choice is for another target of the first model.
    expect(excluded).toEqual([[], ['a'], ['a'], ['a', 'b']]);
  });

  test('goes on from a model that nothing serves, and is accepted once', async () => {
    const { called, ended, accepted } = await send(['fine'], { model: 'none', resolved: 'none' });
    expect([called, ended, accepted]).toEqual([['b'], 'fine', 1]);
  });

  test('ends with the last failure, but not with the news that nothing is left', async () => {
    expect((await send([broken, broken, rejected])).ended).toBe(rejected);
    const fallbacks = [{ model: 'none', resolved: 'none' }];
    expect((await send([broken], { fallbacks })).ended).toBe(broken);
    const nothing = await send([], { model: 'none', resolved: 'none', fallbacks });
    expect(nothing).toMatchObject({ ended: { code: 'all_backends_unhealthy' }, accepted: 0 });
  });

  test('ends if it may have been carried out, or cannot be sent again', async () => {
    const effects = await send([broken, 'fine'], { capability: 'images' });
    expect([effects.called, effects.ended]).toEqual([['a'], broken]);
    const gone = await send([broken, 'fine'], { canRepeat: () => false });
    expect([gone.called, gone.ended]).toEqual([['a'], broken]);
  });
});

describe('a backend with several keys', () => {
  const refusedKey = new UpstreamFailure('no', { isBackendAtFault: false, status: 401 });

  /** A lease with so many keys; the error of several is that of the first. */
  function keyedLease(name: string, keys: number, first?: unknown): Lease {
    return {
      ...routeTo(name),
      model: `${name} with ${keys}`,
      nextKey(failure) {
        if (typeof outcomeOf(failure) === 'string') return { next: undefined, failure };
        const next = keys > 1 ? keyedLease(name, keys - 1, first ?? failure) : undefined;
        return { next, failure: first ?? failure };
      },
    };
  }

  /** What is called, logged and answered if the calls end like this. */
  async function send(answers: unknown[], options: { canRepeat?: () => boolean } = {}) {
    const called: string[] = [];
    const trace = createRequestTrace();
    const excluded: unknown[] = [];
    const choose: Router['choose'] = async (_model, { exclude } = {}) => {
      excluded.push(exclude?.map(({ backend }) => backend));
      return keyedLease(exclude === undefined ? 'a' : 'b', 3);
    };
    const query = {
      model: 'm',
      capability: 'chat' as const,
      signal: new AbortController().signal,
      onAccepted: () => undefined,
      trace,
      ...options,
    };
    const ended = await attempt({ router: { choose }, telemetry }, query, async ({ model }) => {
      called.push(model);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }).then(
      ({ answer }) => answer,
      (error: unknown) => error,
    );
    const outcomes = trace.attempts?.map(({ backend, status }) => [backend, status]);
    return { called, ended, outcomes, excluded };
  }

  test('is asked with each of them, and each is an attempt', async () => {
    expect(await send([refusedKey, limited, 'fine'])).toEqual({
      called: ['a with 3', 'a with 2', 'a with 1'],
      ended: 'fine',
      outcomes: [
        ['a', 401],
        ['a', 429],
        ['a', null],
      ],
      excluded: [undefined],
    });
  });

  test('counts as one backend: after its last key another one is asked', async () => {
    const { called, ended } = await send([limited, limited, limited, 'fine']);
    expect(called).toEqual(['a with 3', 'a with 2', 'a with 1', 'b with 3']);
    expect(ended).toBe('fine');
    const both = await send([limited, limited, limited, limited, limited, broken, 'fine']);
    expect(both.called).toHaveLength(6);
    expect(both.ended).toBe(broken);
  });

  test('whose every key is refused fails with what the router says', async () => {
    // The first is a refusal, after which no other backend is asked.
    const { called, ended } = await send([refusedKey, limited, limited, 'fine']);
    expect(called).toHaveLength(3);
    expect(ended).toBe(refusedKey);
  });

  test('is not asked again if the body is gone', async () => {
    const { called, ended } = await send([limited, 'fine'], { canRepeat: () => false });
    expect(called).toEqual(['a with 3']);
    expect(ended).toBe(limited);
  });
});
