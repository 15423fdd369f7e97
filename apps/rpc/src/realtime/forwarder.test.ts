import { createForwarder } from './forwarder.ts';

/** Records the messages; while it is blocked, no push resolves. */
function output() {
  const pushed: string[] = [];
  const arrive: (() => void)[] = [];
  const out = {
    pushed,
    isBlocked: false,
    resolveOne: () => arrive.shift()?.(),
    push: async (message: string): Promise<void> => {
      pushed.push(message);
      if (out.isBlocked) await new Promise<void>((resolve) => arrive.push(resolve));
    },
  };
  return out;
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test('nothing is sent before begin, then everything in order', async () => {
  const out = output();
  const forwarder = createForwarder(out.push);
  const listener = gate();
  forwarder.add('1');
  await forwarder.flushed();
  forwarder.begin(listener.opened);
  forwarder.add('2');
  expect(out.pushed).toEqual([]);
  listener.open();
  await forwarder.flushed();
  expect(out.pushed).toEqual(['1', '2']);
  forwarder.add('3');
  await forwarder.flushed();
  expect(out.pushed).toEqual(['1', '2', '3']);
});

test('skipping the wait, or much unread text, starts the sending', async () => {
  const out = output();
  const skipped = createForwarder(out.push);
  skipped.begin(gate().opened);
  skipped.add('1');
  skipped.skipWait();
  await skipped.flushed();
  const crowded = createForwarder(out.push);
  crowded.begin(gate().opened);
  crowded.add('2');
  crowded.add('x'.repeat(1024 * 1024));
  await crowded.flushed();
  expect(out.pushed.map((message) => message[0])).toEqual(['1', '2', 'x']);
});

test('a message that must be prepared delays the messages after it', async () => {
  const out = output();
  const forwarder = createForwarder(out.push);
  const written = gate();
  forwarder.begin(Promise.resolve());
  forwarder.add('1');
  forwarder.add(
    '2',
    written.opened.then(() => undefined),
  );
  forwarder.add('3');
  await new Promise(setImmediate);
  expect(out.pushed).toEqual(['1']);
  written.open();
  await forwarder.flushed();
  expect(out.pushed).toEqual(['1', '2', '3']);
});

test('32 messages may be in flight at once', async () => {
  const out = output();
  out.isBlocked = true;
  const forwarder = createForwarder(out.push);
  forwarder.begin(Promise.resolve());
  for (let message = 0; message < 40; message += 1) forwarder.add(String(message));
  await new Promise(setImmediate);
  expect(out.pushed).toHaveLength(32);
  out.resolveOne();
  await new Promise(setImmediate);
  expect(out.pushed).toHaveLength(33);
  out.isBlocked = false;
  for (let message = 1; message < 33; message += 1) out.resolveOne();
  await forwarder.flushed();
  expect(out.pushed).toEqual(Array.from({ length: 40 }, (_, message) => String(message)));
});

test('at most 10,000 messages or 16 MiB may wait', () => {
  const many = createForwarder(output().push);
  for (let message = 0; message < 10_000; message += 1) expect(many.add('x')).toBe(true);
  expect(many.add('x')).toBe(false);
  const large = createForwarder(output().push);
  for (let message = 0; message < 16; message += 1) {
    expect(large.add('é'.repeat(512 * 1024))).toBe(true);
  }
  expect(large.add('x')).toBe(false);
});

test('a message may be replaced, with all that wait behind it', async () => {
  const out = output();
  const forwarder = createForwarder(out.push);
  forwarder.begin(Promise.resolve());
  forwarder.add('1', Promise.resolve(undefined));
  forwarder.add('2', Promise.resolve('instead'));
  forwarder.add('3');
  await forwarder.flushed();
  forwarder.add('4');
  await forwarder.flushed();
  expect(out.pushed).toEqual(['1', 'instead', '4']);
});
