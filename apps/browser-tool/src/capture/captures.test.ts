import { systemClock } from '@model-gateway/kernel';
import { createCaptures } from './captures.ts';

const MIB = 1024 * 1024;
const FRAME_BYTES = 64 * 1024;

const frame = (payload: string) => ({ direction: 'received' as const, opcode: 1, payload });

test('frames of all connections together have at most 32 MiB, and dropped ones are counted', () => {
  const { webSockets } = createCaptures(systemClock);
  const ids = Array.from({ length: 12 }, () => webSockets.open('ws://feed.test/'));
  for (let round = 0; round < 100; round += 1) {
    for (const id of ids) webSockets.frame(id, frame('x'.repeat(FRAME_BYTES)));
  }
  const kept = ids.map((id) => webSockets.frames(id, 0, 1_000));
  const bytes = kept.flatMap((each) => each?.frames ?? []).reduce((sum, { size }) => sum + size, 0);
  expect(bytes).toBeLessThanOrEqual(32 * MIB);
  expect(bytes).toBeGreaterThan(31 * MIB);
  for (const each of kept) expect((each?.frames.length ?? 0) + (each?.dropped ?? 0)).toBe(100);
  // The newest are kept.
  const newest = Math.max(...kept.map((each) => each?.frames.at(-1)?.seq ?? 0));
  webSockets.frame(ids[0] ?? '', frame('last'));
  const [last] = webSockets.frames(ids[0] ?? '', newest, 10)?.frames ?? [];
  expect(last).toMatchObject({ text: 'last' });
});

test('requests and messages count towards the same limit, and clearing makes room', () => {
  const { webSockets, network, console } = createCaptures(systemClock);
  const id = webSockets.open('ws://feed.test/');
  for (let n = 0; n < 300; n += 1) webSockets.frame(id, frame('x'.repeat(FRAME_BYTES)));
  const headers = { cookie: 'c'.repeat(100_000), late: 'left out' };
  for (let n = 0; n < 600; n += 1) {
    const request = { url: `http://a.test/${n}`, method: 'GET', type: 'fetch', initiator: '' };
    const entry = network.start({ ...request, request_headers: headers, post_data: null });
    network.finish(entry, { status: 200 });
  }
  const { resources, dropped } = network.query({ limit: 1_000 });
  expect(resources.length + dropped).toBe(600);
  // The frames are older.
  expect(webSockets.frames(id, 0, 1_000)).toMatchObject({ frames: [], dropped: 300 });
  const stored = resources.map((each) => network.find(each.id)?.request_headers['cookie'] ?? '');
  expect(new Set(stored.map((value) => value.length))).toEqual(new Set([64 * 1024 - 6 + 1]));
  expect(network.find(resources.at(-1)?.id ?? '')?.request_headers).not.toHaveProperty('late');
  expect(stored.length * 64 * 1024).toBeLessThanOrEqual(32 * MIB);

  expect(network.clear()).toBe(resources.length);
  for (let n = 0; n < 200; n += 1) webSockets.frame(id, frame('x'.repeat(FRAME_BYTES)));
  console.add({ level: 'info', text: 'kept', source: 'console', url: '', line: 1, column: 1 });
  expect(webSockets.frames(id, 0, 1_000)?.frames).toHaveLength(200);
  expect(console.query({ limit: 10, all: true }).entries).toHaveLength(1);
});

test('the address and the error of a WebSocket are clipped', () => {
  const { webSockets } = createCaptures(systemClock);
  const id = webSockets.open(`ws://feed.test/${'x'.repeat(1_000_000)}`);
  webSockets.fail(id, 'e'.repeat(1_000_000));
  const [connection] = webSockets.connections();
  expect(connection?.url).toHaveLength(10_001);
  expect(connection?.error).toHaveLength(2_001);
});
