import { manualClock, type ManualClock } from '@model-gateway/kernel';
import type { Capability, RouteOutcome, Router } from '../src/index.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const OPEN_MS = 30_000;
const CAPABILITIES: readonly Capability[] = ['chat', 'embeddings', 'rerank'];

let clock: ManualClock;
let replicas: Replicas;
let router: Router;

beforeEach(async () => {
  clock = manualClock(1_000_000);
  replicas = createReplicas(clock);
  router = await replicas.start();
  await router.registry.register(replicas.upstream('a', { capabilities: CAPABILITIES }));
});
afterEach(() => replicas.stop());

type Options = Parameters<Router['choose']>[1];

async function end(outcome: RouteOutcome, options: Options = {}, on = router): Promise<void> {
  const lease = await on.choose('m', { capability: 'chat', ...options });
  await lease.settle(outcome);
}

const circuitOf = (on = router) => {
  const [{ circuit, failingOperations } = { circuit: undefined, failingOperations: undefined }] =
    on.list();
  return [circuit, failingOperations];
};
const refusal = (capability: Capability, on = router): Promise<unknown> =>
  on.choose('m', { capability }).then(
    () => 'chosen',
    (error: unknown) => error,
  );

const repeat = (): Options => ({ trace: { skipped: undefined, isRepeat: true } });
const media = { hasMedia: () => true };
const embeddings = { capability: 'embeddings' } as const;
const OPEN = ['open', []];
const CLOSED = ['closed', []];

test.each<{
  readonly why: string;
  readonly ends: readonly (readonly [RouteOutcome, Options?])[];
  readonly expected: unknown;
}>([
  {
    why: 'three text chats in a row that fail',
    ends: [['server_error'], ['server_error'], ['server_error']],
    expected: OPEN,
  },
  {
    why: 'chats that fail, with an answer of any kind between them',
    ends: [['server_error'], ['server_error'], ['request_refused'], ['server_error']],
    expected: CLOSED,
  },
  {
    why: 'chats that fail, with a rate limit between them',
    ends: [
      ['server_error'],
      ['server_error'],
      [{ kind: 'rate_limited', forMs: 0 }],
      ['server_error'],
    ],
    expected: CLOSED,
  },
  {
    why: 'an operation that fails',
    ends: [
      ['server_error', embeddings],
      ['server_error', embeddings],
      ['server_error', embeddings],
    ],
    expected: ['closed', [{ operation: 'embeddings', state: 'open' }]],
  },
  {
    why: 'an operation that fails, and answers of others between them',
    ends: [
      ['server_error', embeddings],
      ['server_error', embeddings],
      ['success'],
      ['server_error', embeddings],
    ],
    expected: ['closed', [{ operation: 'embeddings', state: 'open' }]],
  },
  {
    why: 'failures of two operations',
    ends: [
      ['server_error', embeddings],
      ['server_error', embeddings],
      ['server_error'],
      ['server_error', { capability: 'rerank' }],
    ],
    expected: CLOSED,
  },
  {
    why: 'requests with images that fail',
    ends: [
      ['server_error', media],
      ['server_error', media],
      ['server_error', media],
    ],
    expected: CLOSED,
  },
  {
    why: 'two chats that the library of a client repeats',
    ends: [
      ['server_error'],
      ['server_error', repeat()],
      ['server_error', repeat()],
      ['server_error'],
      ['server_error', repeat()],
    ],
    expected: CLOSED,
  },
  {
    why: 'lost connections, whatever was asked for',
    ends: [
      ['failure', media],
      ['failure', repeat()],
      ['failure', embeddings],
    ],
    expected: OPEN,
  },
  {
    why: 'failures that are older than the pause',
    ends: [['server_error'], ['server_error']],
    expected: CLOSED,
  },
])('$why: the circuit is $expected', async ({ why, ends, expected }) => {
  for (const [outcome, options] of ends) await end(outcome, options);
  if (why.includes('older')) {
    clock.advance(OPEN_MS);
    await end('server_error');
  }
  expect(circuitOf()).toEqual(expected);
});

test('an operation whose circuit is open gets no requests, until one has tried it', async () => {
  for (let time = 0; time < 3; time += 1) await end('server_error', embeddings);
  clock.advance(OPEN_MS - 1_500);
  expect(await refusal('embeddings')).toMatchObject({
    code: 'all_backends_unhealthy',
    details: { retry_after_secs: 2 },
  });
  await end('success');
  clock.advance(1_500);
  const trial = await router.choose('m', embeddings);
  expect(await refusal('embeddings')).toMatchObject({ details: { retry_after_secs: 1 } });
  await end('success');
  await trial.settle('success');
  expect(circuitOf()).toEqual(CLOSED);
});

test('a repeated request that is the test call opens the circuit again', async () => {
  for (let time = 0; time < 3; time += 1) await end('server_error');
  clock.advance(OPEN_MS);
  await end('server_error', repeat());
  expect(circuitOf()).toEqual(OPEN);
});

test('a test call whose request may be the cause is left to the next request', async () => {
  for (let time = 0; time < 3; time += 1) await end('server_error');
  clock.advance(OPEN_MS);
  await end('server_error', media);
  expect(circuitOf()).toEqual(['half-open', []]);
  await end('success');
  expect(circuitOf()).toEqual(CLOSED);
});

test('the only process starts with closed circuits, another one with those of the first', async () => {
  for (let time = 0; time < 3; time += 1) await end('server_error', embeddings);
  for (let time = 0; time < 3; time += 1) await end('server_error');
  const state = ['open', [{ operation: 'embeddings', state: 'open' }]];
  expect(circuitOf()).toEqual(state);
  const other = await replicas.start();
  expect(circuitOf(other)).toEqual(state);
  await replicas.stop();
  router = await replicas.start();
  expect(circuitOf()).toEqual(CLOSED);
  for (let time = 0; time < 2; time += 1) await end('server_error');
  expect(circuitOf()).toEqual(CLOSED);
});

test('registering a backend again closes the circuits of its operations', async () => {
  for (let time = 0; time < 3; time += 1) await end('server_error', embeddings);
  await router.registry.register(replicas.upstream('a', { capabilities: CAPABILITIES }));
  expect(circuitOf()).toEqual(CLOSED);
});

test('a model whose backends are all unhealthy may be asked for again in some seconds', async () => {
  const down = replicas.upstream('a', {
    probe: () => Promise.resolve({ state: 'Unhealthy', models: ['m'] }),
  });
  await router.registry.register(down);
  expect(await refusal('chat')).toMatchObject({
    code: 'all_backends_unhealthy',
    details: { retry_after_secs: 5 },
  });
});
