import type { RpcEvent, RpcSubscription } from '@model-gateway/client';
import { watchRequests } from './watch-requests.ts';

// The service, as far as a watch needs it: streams that a test feeds and breaks.
interface Stream {
  readonly id: string;
  send(): void;
  fail(): void;
}

function createScene() {
  const stopping = new AbortController();
  const streams: Stream[] = [];
  const states: string[] = [];
  const waiting: (() => void)[] = [];
  let watches = 0;
  let refusals = 0;
  let lists = 0;
  let heard = 0;
  let release: (() => void) | undefined;
  const tell = (): void => {
    for (const one of waiting.splice(0)) one();
  };
  /** Waits for something that the watch does. */
  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo())
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
  }

  function subscribe(id: string, signal: AbortSignal): RpcSubscription {
    const events: RpcEvent[] = [];
    let problem: Error | undefined;
    let wake: () => void = () => undefined;
    signal.addEventListener('abort', () => wake());
    streams.push({
      id,
      send() {
        events.push({ method: 'requests.changed' } as RpcEvent);
        wake();
      },
      fail() {
        problem = new Error('lost');
        wake();
      },
    });
    tell();
    return {
      ready: Promise.resolve(),
      close: () => undefined,
      async *[Symbol.asyncIterator]() {
        while (!signal.aborted) {
          for (const event of events.splice(0)) {
            yield event;
            heard += 1;
            tell();
          }
          if (problem !== undefined) throw problem;
          if (events.length > 0) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
    };
  }

  const done = watchRequests(
    {
      async watch() {
        if (refusals > 0) {
          refusals -= 1;
          throw new Error('away');
        }
        watches += 1;
        return { stream_id: `s${watches}`, expires_at: '2999-01-01T00:00:00Z' };
      },
      subscribe,
    },
    {
      params: {},
      signal: stopping.signal,
      // Far before the end of a watch, which a timer could not wait for.
      now: () => Date.parse('2998-12-31T23:00:00Z'),
      pause: async () => undefined,
      onChange: async () => {
        lists += 1;
        tell();
        if (release !== undefined)
          await new Promise<void>((resolve) => {
            release = resolve;
          });
      },
      onState(state) {
        states.push(state);
        tell();
      },
    },
  );
  return {
    states,
    streams,
    until,
    lists: () => lists,
    heard: () => heard,
    refuse: (times: number) => (refusals = times),
    hold: () => (release = () => undefined),
    letGo() {
      const held = release;
      release = undefined;
      held?.();
    },
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

test('every announcement asks for the list, and so does the beginning', async () => {
  const scene = createScene();
  await scene.until(() => scene.lists() >= 1);
  scene.streams[0]?.send();
  await scene.until(() => scene.lists() >= 2);
  expect(scene.states).toEqual(['live']);
  await scene.stop();
});

test('a lost stream is shown, comes back as another, and the list is asked for again', async () => {
  const scene = createScene();
  await scene.until(() => scene.lists() >= 1);
  scene.refuse(2);
  scene.streams[0]?.fail();
  await scene.until(() => scene.lists() >= 2);
  expect(scene.states).toEqual(['live', 'lost', 'lost', 'lost', 'live']);
  expect(scene.streams.map(({ id }) => id)).toEqual(['s1', 's2']);
  await scene.stop();
});

test('a slow list is not asked for twice at the same time, and once more afterwards', async () => {
  const scene = createScene();
  scene.hold();
  await scene.until(() => scene.lists() >= 1);
  for (let index = 0; index < 3; index += 1) scene.streams[0]?.send();
  await scene.until(() => scene.heard() === 3);
  expect(scene.lists()).toBe(1);
  scene.letGo();
  await scene.until(() => scene.lists() >= 2);
  await scene.stop();
  expect(scene.lists()).toBe(2);
});
