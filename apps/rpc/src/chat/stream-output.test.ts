import { createStreamOutput } from './stream-output.ts';

function setup(heldMs?: number) {
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
    heldMs === undefined ? {} : { heldMs },
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

test('whoever comes right after the end of a short answer is told everything, too', async () => {
  const { output, said, listen } = setup();
  void output.push('one');
  const ended = output.end('end');
  listen();
  await ended;
  expect(said).toEqual(['one', 'end']);
});

test('a stream that nobody listens to is said to nobody after a while', async () => {
  const { output, said } = setup(20);
  void output.push('one');
  await output.end('end');
  expect(said).toEqual(['one', 'end']);
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
