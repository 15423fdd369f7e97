import { createLifecycle, StoppedError } from './lifecycle.ts';
import { createLog, silentLog } from '../log/log.ts';

function recorded() {
  const events: string[] = [];
  const lifecycle = createLifecycle({ log: silentLog, stopTimeoutMs: 50, partTimeoutMsMin: 5 });
  const open = (name: string) =>
    lifecycle.open(
      name,
      () => {
        events.push(`open ${name}`);
        return name;
      },
      async (opened) => {
        events.push(`close ${opened}`);
      },
    );
  return { events, lifecycle, open };
}

test('parts are opened in order and closed in reverse', async () => {
  const { events, lifecycle, open } = recorded();
  await open('stores');
  await open('app');
  await lifecycle.stop();
  expect(events).toEqual(['open stores', 'open app', 'close app', 'close stores']);
});

test('stopping twice stops once', async () => {
  const { events, lifecycle, open } = recorded();
  await open('stores');
  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  expect(events.filter((event) => event === 'close stores')).toHaveLength(1);
});

test('a part that does not close does not prevent the others from closing', async () => {
  const { events, lifecycle, open } = recorded();
  await open('stores');
  await lifecycle.open(
    'stuck',
    () => undefined,
    () => new Promise(() => undefined),
  );
  await lifecycle.open(
    'broken',
    () => undefined,
    () => Promise.reject(new Error('no')),
  );
  await lifecycle.stop();
  expect(events).toContain('close stores');
});

test('parts that do not close share one time limit; after it each has only the least time', async () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'error',
    app: 'test',
    destination: { write: (line) => lines.push(line) },
  });
  const lifecycle = createLifecycle({ log, stopTimeoutMs: 50, partTimeoutMsMin: 5 });
  for (const name of ['third', 'second', 'first']) {
    await lifecycle.open(
      name,
      () => undefined,
      () => new Promise(() => undefined),
    );
  }
  await lifecycle.stop();
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/not done within 5 ms.*second|second.*not done within 5 ms/),
    expect.stringMatching(/not done within 5 ms.*third|third.*not done within 5 ms/),
  ]);
});

test('a stop during the start closes the part that is being opened and opens no more', async () => {
  const { events, lifecycle, open } = recorded();
  let finishOpening = (): void => undefined;
  const slow = lifecycle.open(
    'slow',
    () =>
      new Promise<void>((resolve) => {
        finishOpening = resolve;
      }),
    async () => {
      events.push('close slow');
    },
  );
  const stopped = lifecycle.stop();
  expect(lifecycle.stopping.aborted).toBe(true);
  finishOpening();
  await slow;
  await stopped;
  expect(events).toEqual(['close slow']);
  await expect(open('late')).rejects.toBeInstanceOf(StoppedError);
});
