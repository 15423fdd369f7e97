import { createStreamOutput } from './stream-output.ts';

function setup(lateListenerMs?: number) {
  const sent: string[] = [];
  let listen = (): void => undefined;
  const output = createStreamOutput(
    {
      push: async (_sessionId, lines) => void sent.push(...lines.split('\n')),
      onListener: (_sessionId, onListener) => {
        listen = onListener;
        return () => undefined;
      },
    },
    'session',
    lateListenerMs === undefined ? {} : { lateListenerMs },
  );
  return { output, sent, listen: () => listen() };
}

test('nothing is sent until there is a listener, and then everything, in order', async () => {
  const { output, sent, listen } = setup();
  void output.push('one');
  void output.push('two');
  expect(sent).toEqual([]);
  listen();
  void output.push('three');
  await output.end('end');
  expect(sent).toEqual(['one', 'two', 'three', 'end']);
});

test('a listener that arrives after the end gets everything, too', async () => {
  const { output, sent, listen } = setup();
  void output.push('one');
  const ended = output.end('end');
  listen();
  await ended;
  expect(sent).toEqual(['one', 'end']);
});

test('a listener may come up to ten seconds after the end', async () => {
  jest.useFakeTimers();
  try {
    const { output, sent, listen } = setup();
    const ended = output.end('end');
    jest.advanceTimersByTime(9_999);
    expect(sent).toEqual([]);
    listen();
    await ended;
    expect(sent).toEqual(['end']);
    const unheard = setup();
    const over = unheard.output.end('end');
    jest.advanceTimersByTime(10_000);
    await over;
    expect(unheard.sent).toEqual(['end']);
  } finally {
    jest.useRealTimers();
  }
});

test('a stream without a listener ends after a while', async () => {
  const { output, sent } = setup(20);
  await output.end('end');
  expect(sent).toEqual(['end']);
});

test('a long response does not wait for a listener', async () => {
  const { output, sent } = setup();
  const long = 'x'.repeat(40 * 1024);
  void output.push(long);
  expect(sent).toEqual([]);
  void output.push(long);
  await output.end('end');
  expect(sent).toEqual([long, long, 'end']);
});

test.each(['before', 'after'])(
  'skipListenerWait called %s the end stops waiting for a listener',
  async (when) => {
    const { output, sent } = setup();
    if (when === 'before') output.skipListenerWait();
    const ended = output.end('end');
    output.skipListenerWait();
    await ended;
    expect(sent).toEqual(['end']);
  },
);
