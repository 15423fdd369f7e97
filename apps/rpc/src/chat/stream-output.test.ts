import { createStreamOutput } from './stream-output.ts';

function setup(lateListenerMs?: number) {
  const said: string[] = [];
  let listen = (): void => undefined;
  const output = createStreamOutput(
    {
      push: async (_sessionId, lines) => void said.push(...lines.split('\n')),
      onListener: (_sessionId, onListener) => {
        listen = onListener;
        return () => undefined;
      },
    },
    'session',
    lateListenerMs === undefined ? {} : { lateListenerMs: () => lateListenerMs },
  );
  return { output, said, listen: () => listen() };
}

test('nothing is said until somebody listens, and then everything, in order', async () => {
  const { output, said, listen } = setup();
  void output.push('one');
  void output.push('two');
  expect(said).toEqual([]);
  listen();
  void output.push('three');
  await output.end('end');
  expect(said).toEqual(['one', 'two', 'three', 'end']);
});

test('whoever comes after the end is told everything, too', async () => {
  const { output, said, listen } = setup();
  void output.push('one');
  const ended = output.end('end');
  listen();
  await ended;
  expect(said).toEqual(['one', 'end']);
});

test('a stream that nobody listens to ends after a while', async () => {
  const { output, said } = setup(20);
  await output.end('end');
  expect(said).toEqual(['end']);
});

test('a long answer does not wait for anybody', async () => {
  const { output, said } = setup();
  const long = 'x'.repeat(40 * 1024);
  void output.push(long);
  expect(said).toEqual([]);
  void output.push(long);
  await output.end('end');
  expect(said).toEqual([long, long, 'end']);
});

test.each(['before', 'after'])('in a hurry nobody is waited for, said %s the end', async (when) => {
  const { output, said } = setup();
  if (when === 'before') output.hurry();
  const ended = output.end('end');
  output.hurry();
  await ended;
  expect(said).toEqual(['end']);
});
