import { createLog } from './log.ts';
import { createTurnLines } from './turn-lines.ts';

function capture() {
  const written: string[] = [];
  const lines = createTurnLines({ write: (text) => void written.push(text) });
  return { lines, written };
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

test('the lines of one turn are written together, in order', async () => {
  const { lines, written } = capture();
  lines.write('one\n');
  lines.write('two\n');
  expect(written).toEqual([]);
  await endOfTurn();
  lines.write('three\n');
  await endOfTurn();
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});

test('what is waiting when the process ends is written then', () => {
  const { lines, written } = capture();
  const before = new Set(process.listeners('exit'));
  lines.write('one\n');
  lines.write('two\n');
  const added = process.listeners('exit').filter((listener) => !before.has(listener));
  for (const listener of added) listener(0);
  expect(written).toEqual(['one\ntwo\n']);
});

test('a line that is no request is written at once, after the requests before it', async () => {
  const { lines, written } = capture();
  const log = createLog({ level: 'info', app: 'test', destination: lines });
  const request = { method: 'GET', route: '/', status: 200, durationMs: 1, isProbe: false };
  log.request({ ...request, requestId: '1' });
  expect(written).toEqual([]);
  log.child({ part: 'a' }).warn({}, 'something happened');
  const messages = written.map((text) =>
    [...text.matchAll(/"msg":"([a-z ]+)"/g)].map(([, m]) => m),
  );
  expect(messages).toEqual([['request', 'something happened']]);
  await endOfTurn();
  expect(written).toHaveLength(1);
});
