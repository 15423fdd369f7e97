import { createForwarder } from './forwarder.ts';

/** An output that keeps what it was given, and lets the first so many pass without a wait. */
function output(room = Number.POSITIVE_INFINITY) {
  const pushed: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    pushed,
    letOnePass: () => waiting.shift()?.(),
    push(message: string) {
      pushed.push(message);
      if (pushed.length <= room) return undefined;
      return new Promise<void>((resolve) => waiting.push(resolve));
    },
    settled: () => Promise.resolve(),
  };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test('nothing goes out before it has begun, then everything in order', async () => {
  const out = output();
  const forwarder = createForwarder(out);
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

test('a message that has to be prepared holds up those behind it', async () => {
  const out = output();
  const forwarder = createForwarder(out);
  const written = gate();
  forwarder.begin(Promise.resolve());
  forwarder.add('1');
  forwarder.add('2', written.opened);
  forwarder.add('3');
  await new Promise(setImmediate);
  expect(out.pushed).toEqual(['1']);
  written.open();
  await forwarder.flushed();
  expect(out.pushed).toEqual(['1', '2', '3']);
});

test('a crowded output is waited for', async () => {
  const out = output(1);
  const forwarder = createForwarder(out);
  forwarder.begin(Promise.resolve());
  for (const message of ['1', '2', '3']) forwarder.add(message);
  await new Promise(setImmediate);
  expect(out.pushed).toEqual(['1', '2']);
  out.letOnePass();
  await new Promise(setImmediate);
  expect(out.pushed).toEqual(['1', '2', '3']);
});

test('10,000 messages or 16 MiB may wait, and no more', () => {
  const many = createForwarder(output());
  for (let message = 0; message < 10_000; message += 1) expect(many.add('x')).toBe(true);
  expect(many.add('x')).toBe(false);
  const large = createForwarder(output());
  for (let message = 0; message < 16; message += 1) {
    expect(large.add('é'.repeat(512 * 1024))).toBe(true);
  }
  expect(large.add('x')).toBe(false);
});
