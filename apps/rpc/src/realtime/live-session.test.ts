import { ServiceError } from '@model-gateway/contracts';
import type { EndedResponse, Reservation } from '@model-gateway/inference';
import { UpstreamFailure, type RealtimeEvent } from '@model-gateway/router';
import { createResponseReservations } from './response-reservations.ts';
import { createForwarder } from './forwarder.ts';
import { createLiveSession } from './live-session.ts';

type Options = Parameters<typeof createLiveSession>[0];

const reservation = {
  isHolding: false,
  id: 'r',
  end: () => undefined,
  endCall: () => undefined,
  extend: () => undefined,
};

function setup(options: Partial<Options> = {}) {
  const seen = {
    ended: [] as string[],
    sent: [] as RealtimeEvent[],
    forwarded: [] as string[],
    recorded: [] as EndedResponse[],
    closed: 0,
    settled: [] as unknown[],
  };
  let onEnd: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (onEnd = resolve));
  const session = createLiveSession({
    refId: null,
    forwarder: {
      add: (message) => seen.forwarded.push(message) > 0,
      begin: () => undefined,
      skipWait: () => undefined,
      flushed: async () => undefined,
    },
    notificationOf: (event) => `<${event}>`,
    reservations: createResponseReservations(async () => reservation),
    onEnded(reason) {
      seen.ended.push(reason);
      onEnd();
    },
    ...options,
  });
  const upstream = {
    link: { send: (event: RealtimeEvent) => seen.sent.push(event) > 0, close: () => seen.closed++ },
    lease: {
      model: 'm',
      backend: {
        name: 'up',
        kind: 'external' as const,
        capabilities: () => new Set<never>(),
        probe: async () => ({ state: 'Healthy' as const, models: [] }),
        close: async () => undefined,
      },
      nextKey: (failure: unknown) => ({ next: undefined, failure }),
      begun: () => undefined,
      lost: () => undefined,
      answered: async () => undefined,
      settle: async (outcome: unknown) => void seen.settled.push(outcome),
    },
  };
  const recorder = {
    async record(ended: EndedResponse, reserving: Promise<Reservation | undefined>) {
      seen.recorded.push(ended);
      (await reserving)?.end();
    },
    settled: async () => undefined,
  };
  const receive = (event: RealtimeEvent): void =>
    session.listener.onEvent({ event, text: JSON.stringify(event) });
  return { session, seen, receive, over, attach: () => session.attach(upstream, recorder) };
}

const done = { type: 'response.done', response: { id: 'r', usage: { input_tokens: 5 } } };
const lost = new UpstreamFailure('lost', { isBackendAtFault: true });

test('a session ends once, whatever ends it first, and releases everything', () => {
  const { session, seen, receive, attach } = setup();
  expect(attach()).toBe(true);
  receive({ type: 'response.text.delta', delta: 'half a sen' });
  session.listener.onClosed(lost);
  session.end('again');
  session.listener.onClosed(lost);
  expect(seen).toMatchObject({ ended: ['lost'], closed: 1, settled: ['left'] });
  expect(seen.recorded).toEqual([
    { usage: undefined, ending: 'interrupted', transcript: 'half a sen' },
    {
      usage: { prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 },
      ending: 'interrupted',
      transcript: undefined,
    },
  ]);
  receive({ type: 'late' });
  expect(seen.forwarded).toHaveLength(2);
  expect(seen.forwarded.at(-1)).toContain('the upstream ended the session');
});

test('a session whose upstream closes before it is attached is not opened', () => {
  const { session, seen, attach } = setup();
  session.listener.onClosed(lost);
  expect(attach()).toBe(false);
  expect(seen).toMatchObject({ ended: ['lost'], closed: 1, settled: ['left'] });
});

test('the usage of a response is recorded', () => {
  const { seen, receive, attach } = setup();
  attach();
  receive(done);
  expect(seen.recorded).toMatchObject([{ usage: { prompt_tokens: 5, total_tokens: 5 } }]);
});

test('a session ends when the quota of its user is used up', async () => {
  const drained = setup({
    reservations: createResponseReservations(() =>
      Promise.reject(new ServiceError('quota_exceeded', 'used up')),
    ),
  });
  drained.attach();
  drained.receive(done);
  await drained.over;
  expect(drained.seen).toMatchObject({ ended: ['used up'], closed: 1 });
  expect(drained.seen.forwarded.at(-1)).toMatch(/^<{"type":"error".*"message":"used up"/);
});

test('a session ends when its last response used up the quota, also if that is settled only a moment later', async () => {
  const refusals = [
    new ServiceError('quota_reserved', 'not settled yet'),
    new ServiceError('quota_exceeded', 'used up'),
  ];
  const drained = setup({
    reservations: createResponseReservations(
      () => Promise.reject(refusals.shift() ?? new Error('asked too often')),
      1,
    ),
  });
  drained.attach();
  drained.receive(done);
  await drained.over;
  expect(drained.seen).toMatchObject({ ended: ['used up'], closed: 1 });
});

test('what other requests reserve does not end the session', async () => {
  let checks = 0;
  const reservations = createResponseReservations(() => {
    checks += 1;
    return Promise.reject(new ServiceError('quota_reserved', 'reserved'));
  }, 1);
  expect(await reservations.check()).toBeUndefined();
  expect(checks).toBe(5);
});

test('a failed quota check does not end the session', async () => {
  let checks = 0;
  const { seen, receive, attach } = setup({
    reservations: createResponseReservations(async () => {
      checks += 1;
      throw new Error('no database');
    }),
  });
  attach();
  receive(done);
  await new Promise(setImmediate);
  expect(checks).toBe(1);
  expect(seen.ended).toEqual([]);
});

test('a response reserves from its beginning to its end, and a session that ends leaves nothing reserved', async () => {
  let held = 0;
  const { session, receive, attach } = setup({
    reservations: createResponseReservations(async () => {
      held += 1;
      return { ...reservation, end: () => void (held -= 1) };
    }),
  });
  attach();
  receive({ type: 'response.created' });
  expect(held).toBe(1);
  receive(done);
  await new Promise(setImmediate);
  expect(held).toBe(0);
  receive({ type: 'response.created' });
  receive({ type: 'response.created' });
  session.end('stopped');
  await new Promise(setImmediate);
  expect(held).toBe(0);
});

test('events that an upstream repeats neither reserve nor record a response again', async () => {
  let admitted = 0;
  const { seen, receive, attach } = setup({
    reservations: createResponseReservations(async () => {
      admitted += 1;
      return reservation;
    }),
  });
  attach();
  const created = { type: 'response.created', response: { id: 'r' } };
  for (const event of [created, created, done, done, created]) receive(event);
  await new Promise(setImmediate);
  // The response, and the check after it.
  expect(admitted).toBe(2);
  expect(seen.recorded).toHaveLength(1);
  expect(seen.forwarded).toHaveLength(5);
  receive({ type: 'response.done', response: { usage: { input_tokens: 1 } } });
  receive({ type: 'response.done', response: { usage: { input_tokens: 1 } } });
  expect(seen.recorded).toHaveLength(3);
});

test('a session ends when others reserve the rest of the quota as its response begins, not between responses', async () => {
  const { seen, over, receive, attach } = setup({
    reservations: createResponseReservations(() =>
      Promise.reject(new ServiceError('quota_reserved', 'reserved')),
    ),
  });
  attach();
  receive(done);
  await new Promise(setImmediate);
  expect(seen.ended).toEqual([]);
  receive({ type: 'response.created' });
  await over;
  expect(seen.ended).toEqual(['reserved']);
});

test.each([
  new ServiceError('quota_reserved', 'reserved'),
  new ServiceError('store_unavailable', 'the database is not available'),
  new Error('a script of Redis failed'),
])('nothing of a response that is refused is forwarded: %s', async (failure) => {
  const forwarded: unknown[] = [];
  const forwarder = createForwarder(async (message) => void forwarded.push(JSON.parse(message)));
  forwarder.begin(Promise.resolve());
  let refuse: (failure: Error) => void = () => undefined;
  const admitting = new Promise<Reservation>((_, reject) => (refuse = reject));
  const { seen, over, receive, attach } = setup({
    forwarder,
    notificationOf: (event) => event,
    reservations: createResponseReservations(() => admitting),
  });
  attach();
  receive({ type: 'session.created' });
  receive({ type: 'response.created' });
  receive({ type: 'response.text.delta', delta: 'half a sen' });
  refuse(failure);
  await over;
  await forwarder.flushed();
  expect(forwarded).toEqual([
    { type: 'session.created' },
    { type: 'error', error: expect.objectContaining({ message: seen.ended[0] }) },
  ]);
  // The upstream has worked on it.
  expect(seen.recorded).toMatchObject([{}, { usage: { completion_tokens: 3 } }]);
});

test('a session whose events cannot be forwarded ends', () => {
  const { seen, receive, attach } = setup({
    forwarder: {
      add: () => false,
      begin: () => undefined,
      skipWait: () => undefined,
      flushed: async () => undefined,
    },
  });
  attach();
  receive({ type: 'tick' });
  expect(seen.ended).toEqual(['events were read too slowly']);
});

test('a session ends when it is idle, and at its maximum duration', async () => {
  const idle = setup({ idleMs: 20 });
  idle.attach();
  await idle.over;
  expect(idle.seen.ended).toEqual(['idle for too long']);
  const endless = setup({ idleMs: 1_000, lifetimeMs: 50 });
  endless.attach();
  const talking = setInterval(() => endless.receive({ type: 'tick' }), 5);
  await endless.over;
  clearInterval(talking);
  expect(endless.seen.ended).toEqual(['open for too long']);
});
