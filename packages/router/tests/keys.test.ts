import { manualClock, type ManualClock } from '@model-gateway/kernel';
import { outcomeOf, UpstreamFailure, type Backend, type Router } from '../src/index.ts';
import { createReplicas, serving, type Replicas } from './replicas.ts';

const [ONE, TWO, THREE] = ['one', 'two', 'three'] as const;
const KEYS = [ONE, TWO, THREE];

/** What the upstream answers to a key, if it is not accepted. */
interface RefusedKey {
  readonly status: number;
  readonly retryAfterSecs?: number;
}

let clock: ManualClock;
let replicas: Replicas;
let router: Router;
let refused: Map<string, RefusedKey>;
let names: Map<Backend, string>;

beforeEach(async () => {
  clock = manualClock(1_000_000);
  replicas = createReplicas(clock);
  router = await replicas.start();
  refused = new Map();
  names = new Map(KEYS.map((key) => [keyed(), key]));
  const keys = [...names.keys()];
  await router.registry.register(replicas.upstream('cloud', { keys }));
});
afterEach(() => replicas.stop());

const keyed = (): Backend => ({
  name: 'cloud',
  kind: 'external',
  capabilities: () => new Set(['chat']),
  probe: serving('m'),
  close: async () => undefined,
});

/** The failure of one key; undefined if it is accepted. */
function failureOf(key: string): UpstreamFailure | undefined {
  const refusal = refused.get(key);
  if (refusal === undefined) return undefined;
  const { status, retryAfterSecs } = refusal;
  const isBackendAtFault = status === 429 || status >= 500;
  return new UpstreamFailure(key, { isBackendAtFault, status, retryAfterSecs });
}

/** Sends one request with one key after the other until one serves it. */
async function send() {
  const used: string[] = [];
  let lease = await router.choose('m');
  for (;;) {
    const key = names.get(lease.backend) ?? 'unknown';
    used.push(key);
    const failure = failureOf(key);
    if (failure === undefined) {
      await lease.settle('success');
      return { used, failure: undefined };
    }
    const after = lease.nextKey(failure);
    if (after.next === undefined) {
      await lease.settle(outcomeOf(failure));
      return { used, failure: after.failure };
    }
    lease = after.next;
  }
}

/** The keys of so many requests. */
async function keysOf(requests: number): Promise<readonly string[]> {
  const used: string[] = [];
  for (let sent = 0; sent < requests; sent += 1) used.push(...(await send()).used);
  return used;
}

test('the keys are used in turn', async () => {
  expect(await keysOf(4)).toEqual([ONE, TWO, THREE, ONE]);
});

test.each([
  { why: 'a rate limit that says when it ends', status: 429, retryAfterSecs: 20, restMs: 20_000 },
  { why: 'a rate limit that does not', status: 429, restMs: 5_000 },
  { why: 'a key that is unknown', status: 401, restMs: 600_000 },
  { why: 'a key that is forbidden', status: 403, restMs: 60_000 },
])('after $why the key rests alone, and the request is served', async ({ restMs, ...refusal }) => {
  refused.set(TWO, refusal);
  expect(await keysOf(2)).toEqual([ONE, TWO, THREE]);
  expect(new Set(await keysOf(6))).toEqual(new Set([ONE, THREE]));
  refused.clear();
  clock.advance(restMs - 1);
  expect(new Set(await keysOf(6))).toEqual(new Set([ONE, THREE]));
  clock.advance(1);
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('when all are limited, the failure is that of the key that is ready first', async () => {
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 429, retryAfterSecs: 30 });
  refused.set(THREE, { status: 429, retryAfterSecs: 50 });
  const { used, failure } = await send();
  expect(used).toEqual(KEYS);
  expect(failure).toMatchObject({ message: TWO, status: 429 });
  // The backend is avoided until that key is ready, and no longer.
  await expect(router.choose('m')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  clock.advance(29_999);
  await expect(router.choose('m')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  clock.advance(1);
  refused.clear();
  expect(await keysOf(2)).toEqual([TWO, TWO]);
});

test('a key that another request was refused with decides as well when the backend is ready', async () => {
  refused.set(ONE, { status: 429, retryAfterSecs: 2 });
  expect(await keysOf(1)).toEqual([ONE, TWO]);
  refused.set(TWO, { status: 401 });
  refused.set(THREE, { status: 401 });
  expect((await send()).used).toEqual([TWO, THREE]);
  clock.advance(2_000);
  refused.clear();
  expect(await keysOf(1)).toEqual([ONE]);
});

test('what every key answers with 403 is about the request, and no key rests', async () => {
  for (const key of KEYS) refused.set(key, { status: 403 });
  expect((await send()).failure).toMatchObject({ status: 403 });
  refused.clear();
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('other failures are not about a key', async () => {
  refused.set(ONE, { status: 500 });
  expect(await send()).toMatchObject({ used: [ONE], failure: { status: 500 } });
  refused.clear();
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('a key whose request cannot be sent again rests, and the backend goes on with the others', async () => {
  const lease = await router.choose('m');
  await lease.settle({ kind: 'rate_limited', forMs: 5_000 });
  expect(new Set(await keysOf(4))).toEqual(new Set([TWO, THREE]));
});

test('all keys of a request are one request to the backend, in one place', async () => {
  const keys = [...names.keys()];
  const limits = { concurrency: 1, rpm: 1 };
  await router.registry.register({ ...replicas.upstream('cloud', { keys }), limits });
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 401 });
  const before = router.list()[0]?.requests ?? 0;
  expect((await send()).used).toEqual(KEYS);
  expect(router.list()[0]?.requests).toBe(before + 1);
  await expect(router.choose('m')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
});

test('the circuit belongs to the backend: three failures with different keys open it', async () => {
  for (let failure = 0; failure < 3; failure += 1) {
    await (await router.choose('m')).settle('failure');
  }
  expect(router.list()[0]?.circuit).toBe('open');
});

test('a conversation stays with its backend, whichever key serves it', async () => {
  await router.registry.register(replicas.upstream('other'));
  const chosen = new Set<string>();
  for (let turn = 0; turn < 4; turn += 1) {
    const lease = await router.choose('m', { conversationId: 'talk' });
    chosen.add(lease.backend.name);
    await lease.settle('success');
  }
  expect(chosen.size).toBe(1);
});
