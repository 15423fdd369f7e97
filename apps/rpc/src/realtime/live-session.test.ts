import { ServiceError } from '@model-gateway/contracts';
import type { EndedResponse } from '@model-gateway/inference';
import { UpstreamFailure, type RealtimeEvent } from '@model-gateway/router';
import { createLiveSession } from './live-session.ts';

type Options = Parameters<typeof createLiveSession>[0];

function setup(options: Partial<Options> = {}) {
  const seen = {
    ended: [] as string[],
    sent: [] as RealtimeEvent[],
    forwarded: [] as string[],
    entered: [] as EndedResponse[],
    kept: [] as string[],
    closed: 0,
    settled: [] as string[],
  };
  let onEnd: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (onEnd = resolve));
  const session = createLiveSession({
    refId: null,
    forwarder: {
      add: (message) => seen.forwarded.push(message) > 0,
      begin: () => undefined,
      flushed: async () => undefined,
    },
    notificationOf: (event) => `<${event}>`,
    assertCovered: async () => undefined,
    onEnded(reason) {
      seen.ended.push(reason);
      onEnd();
    },
    ...options,
  });
  const upstream = {
    link: { send: (event: RealtimeEvent) => seen.sent.push(event) > 0, close: () => seen.closed++ },
    route: {
      model: 'm',
      backend: {
        name: 'up',
        kind: 'external' as const,
        capabilities: () => new Set<never>(),
        probe: async () => ({ state: 'Healthy' as const, models: [] }),
        close: async () => undefined,
      },
      answered: async () => undefined,
      settle: async (outcome: string) => void seen.settled.push(outcome),
    },
  };
  const books = {
    enter: async (ended: EndedResponse) => void seen.entered.push(ended),
    keep: (transcript: string) => void seen.kept.push(transcript),
    settled: async () => undefined,
  };
  const tell = (event: RealtimeEvent): void =>
    session.listener.onEvent({ event, text: JSON.stringify(event) });
  return { session, seen, tell, over, attach: () => session.attach(upstream, books) };
}

const done = { type: 'response.done', response: { id: 'r', usage: { input_tokens: 5 } } };
const lost = new UpstreamFailure('gone', { isBackendAtFault: true });

test('a session ends once, whoever ends it, and gives everything back', () => {
  const { session, seen, tell, attach } = setup();
  expect(attach()).toBe(true);
  tell({ type: 'response.text.delta', delta: 'half a sen' });
  session.listener.onClosed(lost);
  session.end('again');
  session.listener.onClosed(lost);
  expect(seen).toMatchObject({ ended: ['gone'], closed: 1, settled: ['neutral'] });
  expect(seen.kept).toEqual(['half a sen']);
  tell({ type: 'late' });
  expect(seen.forwarded).toHaveLength(1);
});

test('a session whose upstream went away before it was attached is not opened', () => {
  const { session, seen, attach } = setup();
  session.listener.onClosed(lost);
  expect(attach()).toBe(false);
  expect(seen).toMatchObject({ ended: ['gone'], closed: 1, settled: ['neutral'] });
});

test('what a response took is written down', () => {
  const { seen, tell, attach } = setup();
  attach();
  tell(done);
  expect(seen.entered).toMatchObject([{ usage: { prompt_tokens: 5, total_tokens: 5 } }]);
});

test('a user who has nothing left in mid-session is not served any further', async () => {
  const drained = setup({
    assertCovered: () => Promise.reject(new ServiceError('quota_exceeded', 'used up')),
  });
  drained.attach();
  drained.tell(done);
  await drained.over;
  expect(drained.seen).toMatchObject({ ended: ['used up'], closed: 1 });
});

test('a quota that cannot be looked up ends nothing', async () => {
  let asked = 0;
  const { seen, tell, attach } = setup({
    assertCovered: async () => {
      asked += 1;
      throw new Error('no database');
    },
  });
  attach();
  tell(done);
  await new Promise(setImmediate);
  expect(asked).toBe(1);
  expect(seen.ended).toEqual([]);
});

test('a session whose events cannot be passed on ends', () => {
  const { seen, tell, attach } = setup({
    forwarder: { add: () => false, begin: () => undefined, flushed: async () => undefined },
  });
  attach();
  tell({ type: 'tick' });
  expect(seen.ended).toEqual(['its events were taken too slowly']);
});

test('a session ends when nothing is said, and after all when it never ends', async () => {
  const idle = setup({ idleMs: 20 });
  idle.attach();
  await idle.over;
  expect(idle.seen.ended).toEqual(['nothing was said for too long']);
  const endless = setup({ idleMs: 1_000, lifetimeMs: 50 });
  endless.attach();
  const talking = setInterval(() => endless.tell({ type: 'tick' }), 5);
  await endless.over;
  clearInterval(talking);
  expect(endless.seen.ended).toEqual(['it was open for too long']);
});
