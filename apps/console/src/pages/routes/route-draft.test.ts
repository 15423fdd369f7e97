import { draftOf, inOrder, routeOf } from './route-draft.ts';

const route = {
  model: 'best',
  targets: [
    { model: 'llama', backend: 'gpu', priority: 0, weight: 3 },
    { model: 'gpt', backend: null, priority: 1, weight: 1 },
  ],
  strategy: 'fastest' as const,
  hedge_after_ms: 300,
  attempts: 2,
  timeout_secs: 1.5,
  retry_on: ['transport' as const],
  cache: { ttl_secs: 60 },
};

test('a route is the same after its form was opened and saved', () => {
  expect(routeOf(draftOf(route))).toEqual({
    model: 'best',
    targets: [
      { model: 'llama', backend: 'gpu', priority: 0, weight: 3 },
      { model: 'gpt', priority: 1, weight: 1 },
    ],
    attempts: 2,
    timeout_secs: 1.5,
    retry_on: ['transport'],
    strategy: 'fastest',
    hedge_after_ms: 300,
    cache: { ttl_secs: 60 },
  });
});

test('a new route has one target, no time limit, and tries others after every failure', () => {
  const draft = draftOf(undefined);
  expect(draft.targets).toHaveLength(1);
  expect(routeOf({ ...draft, model: ' m ' })).toEqual({
    model: 'm',
    targets: [{ model: '', priority: 0, weight: 1 }],
    attempts: 2,
    strategy: 'weighted',
    retry_on: ['transport', 'timeout', '5xx', '429'],
  });
});

test('what the form leaves empty is removed from a route', () => {
  const cleared = { timeout: '', hedgeAfterMs: ' ', cacheSecs: '' };
  const saved = routeOf({ ...draftOf(route), ...cleared });
  for (const name of ['timeout_secs', 'hedge_after_ms', 'cache'])
    expect(saved).not.toHaveProperty(name);
});

test('targets are shown in the order in which they are tried', () => {
  const targets = [
    { priority: 1, weight: 9 },
    { priority: 0, weight: 1 },
    { priority: 0, weight: 2 },
  ];
  expect(inOrder(targets)).toEqual([targets[2], targets[1], targets[0]]);
});
