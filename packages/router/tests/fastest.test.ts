import { manualClock, type ManualClock } from '@model-gateway/kernel';
import type { Lease, RouteRule, Router } from '../src/index.ts';
import { rank } from '../src/choice/rank.ts';
import type { Candidate } from '../src/choice/choice.ts';
import type { BackendEntry } from '../src/registry/backend-list.ts';
import { createReplicas, until, type Replicas } from './replicas.ts';

const NAMES = ['slow', 'quick', 'close'];
const TIMES: Readonly<Record<string, number>> = { slow: 900, quick: 100, close: 110 };

const candidateOf = (name: string): Candidate => ({
  entry: { backend: { name, kind: 'external' }, lacks: () => false } as unknown as BackendEntry,
  model: 'm',
  routed: { model: 'm', backend: name, priority: 0, weight: 1 },
});

const FACTS = {
  permits: () => true,
  hasNoRefusals: () => true,
  coolingMs: () => 0,
  isKeyRefused: () => false,
};

/** How many of so many requests each backend gets. */
function sharesOf(times: Readonly<Record<string, number>>, kind: string): object {
  const used = new Map<string, number>();
  const requests = 1_000;
  for (let request = 0; request < requests; request += 1) {
    const [chosen] = rank(NAMES.map(candidateOf), FACTS, {
      strategy: 'fastest',
      counts: { of: (name) => used.get(name) ?? 0 },
      provider: undefined,
      firstTokens: {
        medianMs: (name, _model, asked) => (asked === kind ? times[name] : undefined),
      },
      draw: () => request / requests,
    });
    const name = chosen?.entry.backend.name ?? '';
    used.set(name, (used.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(used);
}

test.each(['streamed', 'whole'])(
  'the fastest get most of the requests, the others a few, by the times of %s answers',
  (kind) => {
    expect(sharesOf(TIMES, kind)).toEqual({ slow: 17, quick: 492, close: 491 });
  },
);

test('while one has not been measured, all get the same', () => {
  expect(sharesOf({ slow: 900, quick: 100 }, 'whole')).toEqual({
    slow: 334,
    quick: 333,
    close: 333,
  });
});

describe('replicas', () => {
  let replicas: Replicas;
  let clock: ManualClock;
  let router: Router;
  let other: Router;

  const rule: RouteRule = {
    model: 'best',
    targets: ['a', 'b'].map((backend) => ({ model: 'm', backend, priority: 0, weight: 1 })),
    strategy: 'fastest',
    attempts: 2,
    retryOn: [],
  };

  beforeEach(async () => {
    clock = manualClock(1_000_000);
    replicas = createReplicas(clock);
    router = await replicas.start({ random: () => 0 });
    other = await replicas.start();
    for (const name of ['a', 'b']) await router.registry.register(replicas.upstream(name));
    await router.routes.set(rule);
    await until(() => other.routes.list().length === 1 && other.list().length === 2);
  });
  afterEach(() => replicas.stop());

  const exceptFirst = async (first: Lease): Promise<Lease> =>
    router.choose('best', { exclude: [{ backend: first.backend.name, model: 'm' }] });

  test('a target that another one overtook is slower than that one', async () => {
    const slow = await router.choose('best');
    const quick = await exceptFirst(slow);
    quick.begun();
    // Whatever it took, it is more than this.
    slow.lost('streamed', 0);
    for (const lease of [slow, quick]) await lease.settle('neutral');
    const known = await detailsAt(router);
    expect(Object.keys(known).toSorted()).toEqual(['a', 'b']);
    expect(Object.values(known)).not.toContain('');
  });

  test('a target that was asked for less time than the other took is not measured by that', async () => {
    const late = await router.choose('best');
    late.lost('streamed', Infinity);
    await late.settle('neutral');
    expect(Object.values(await detailsAt(router))).toEqual(['', '']);
  });

  test('times are forgotten when nothing was measured for an hour', async () => {
    const first = await router.choose('best');
    const second = await exceptFirst(first);
    for (const lease of [first, second]) {
      lease.begun();
      await lease.settle('success');
    }
    expect(Object.values(await detailsAt(router))).not.toContain('');
    clock.advance(60 * 60 * 1_000);
    expect(Object.values(await detailsAt(router))).toEqual(['', '']);
  });

  const detailsAt = async (asked: Router) => {
    const targets = await asked.explain('best');
    const details = targets.map(({ backend = '', detail = '' }) => [backend, detail] as const);
    return Object.fromEntries<string>(details);
  };

  test('know the times of each other, also those that start later', async () => {
    const first = await router.choose('best');
    const second = await router.choose('best', {
      exclude: [{ backend: first.backend.name, model: 'm' }],
    });
    for (const lease of [first, second]) {
      lease.begun();
      await lease.settle('success');
    }
    const known = { a: expect.stringMatching(/^first token in \d+ ms$/), b: expect.any(String) };
    expect(await detailsAt(router)).toEqual(known);
    let details = await detailsAt(other);
    await until(() => {
      void detailsAt(other).then((found) => void (details = found));
      return Object.values(details).every((detail) => detail !== '');
    });
    expect(details).toEqual(known);
    const late = await replicas.start();
    await until(() => late.list().every(({ isRoutable }) => isRoutable));
    expect(await detailsAt(late)).toEqual(known);
  });
});
