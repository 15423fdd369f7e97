import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { randomToken, silentLog } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createQuickLine, type QuickLine } from '../src/redis/quick-line.ts';
import { createRedisConnection, type RedisConnection } from '../src/redis/redis-connection.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';

const TIMEOUT_MS = 1_000;

let server: RedisServer;
let admin: Redis;
let line: QuickLine;
let connection: RedisConnection | undefined;
let unresponsive = 0;

beforeEach(async () => {
  server = await createRedisServer();
  await server.start();
  admin = new Redis(server.url);
  unresponsive = 0;
});
afterEach(async () => {
  line?.close();
  await connection?.close();
  connection = undefined;
  admin.disconnect();
  await server.remove();
});

/** Where a client that was given such an address would look for Redis. */
function optionsOf(url: string): Redis['options'] {
  const client = new Redis(url, { lazyConnect: true });
  client.disconnect();
  return client.options;
}

function lineTo(url: string): void {
  line = createQuickLine({
    redis: optionsOf(url),
    timeoutMs: TIMEOUT_MS,
    log: silentLog,
    onUnresponsive: () => (unresponsive += 1),
  });
  line.open();
}

function portOf(listening: Server): number {
  const address = listening.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const isOpen = (): Promise<void> => eventually('the line is open', () => line.isOpen());

async function connectionsNow(): Promise<readonly string[]> {
  const list = String(await admin.call('CLIENT', 'LIST', 'TYPE', 'normal'));
  const ids = [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => String(id));
  const own = String(await admin.call('CLIENT', 'ID'));
  return ids.filter((id) => id !== own);
}

async function killConnections(ids: readonly string[]): Promise<void> {
  for (const id of ids) await admin.call('CLIENT', 'KILL', 'ID', id);
}

test('every one of many calls gets its own answer, in whatever alphabet', async () => {
  lineTo(server.url);
  await isOpen();
  const texts = Array.from(
    { length: 2_000 },
    (_, index) => `${index} ${'ä日🙂'.repeat(index % 50)}`,
  );
  const answers = await Promise.all(texts.map((text) => line.send('echo', [text])));
  expect(answers).toEqual(texts);
});

test('a refusal is that of its call alone, in the words of Redis', async () => {
  lineTo(server.url);
  await isOpen();
  const answers = await Promise.allSettled([
    line.send('set', ['a', '1']),
    line.send('lpush', ['a', 'x']),
    line.send('get', ['a']),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await expect(line.send('lpush', ['a', 'x'])).rejects.toThrow('WRONGTYPE');
  expect(unresponsive).toBe(0);
});

test('a user, a password and a database are those of the address', async () => {
  const password = randomToken(12);
  await admin.call('ACL', 'SETUSER', 'somebody', 'on', `>${password}`, '~*', '+@all');
  const { host } = new URL(server.url);
  lineTo(`redis://somebody:${password}@${host}/3`);
  await isOpen();
  expect(await line.send('acl', ['whoami'])).toBe('somebody');
  await line.send('set', ['where', 'in three']);
  expect(await admin.get('where')).toBeNull();
  await admin.select(3);
  expect(await admin.get('where')).toBe('in three');
});

test('a line that Redis does not let in stays closed, and opens once it does', async () => {
  await admin.call('CONFIG', 'SET', 'requirepass', 'another');
  const { host } = new URL(server.url);
  lineTo(`redis://:expected@${host}`);
  await eventually('it has been turned away twice', async () => {
    const stats = await admin.info('errorstats');
    return Number(/errorstat_WRONGPASS:count=(\d+)/.exec(stats)?.[1] ?? 0) >= 2;
  });
  expect(line.isOpen()).toBe(false);
  await admin.call('CONFIG', 'SET', 'requirepass', 'expected');
  await isOpen();
});

test('a server that accepts connections and sends nothing is disconnected each time', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  lineTo(`redis://127.0.0.1:${portOf(silent)}`);
  await eventually('it has been tried twice', () => sockets.size === 2);
  expect([line.isOpen(), unresponsive]).toEqual([false, 0]);
  line.close();
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test('a lost connection fails its pending calls, and is reopened', async () => {
  lineTo(server.url);
  await isOpen();
  const [answer] = await Promise.allSettled([
    line.send('blpop', ['nothing', '0']),
    connectionsNow().then(killConnections),
  ]);
  expect(answer).toMatchObject({
    status: 'rejected',
    reason: { message: 'Redis closed the connection' },
  });
  await isOpen();
  expect(await line.send('ping', [])).toBe('PONG');
});

test('a Redis that does not answer is given up in time, for all who wait', async () => {
  lineTo(server.url);
  await isOpen();
  server.freeze();
  const answers = await Promise.allSettled([line.send('ping', []), line.send('ping', [])]);
  expect(answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(unresponsive).toBe(1);
  expect(line.isOpen()).toBe(false);
  server.thaw();
  await isOpen();
  expect(await line.send('ping', [])).toBe('PONG');
});

test('an answer that came while this process was busy is not late', async () => {
  lineTo(server.url);
  await isOpen();
  const answers = Promise.all([line.send('echo', ['a']), line.send('echo', ['b'])]);
  await new Promise((resolve) => {
    // Written, and then nothing is read for longer than an answer may take.
    setImmediate(() => {
      const busyUntil = performance.now() + 2 * TIMEOUT_MS;
      while (performance.now() < busyUntil);
      resolve(undefined);
    });
  });
  expect(await answers).toEqual(['a', 'b']);
  expect([line.isOpen(), unresponsive]).toEqual([true, 0]);
});

test('a Redis that hangs without pending calls is noticed by the heartbeat', async () => {
  lineTo(server.url);
  await isOpen();
  server.freeze();
  await eventually('it is given up', () => unresponsive === 1 && !line.isOpen());
  server.thaw();
});

test('a Redis that takes no more writes is left', async () => {
  lineTo(server.url);
  await isOpen();
  await admin.call('REPLICAOF', '127.0.0.1', '1');
  await expect(line.send('set', ['a', '1'])).rejects.toThrow('READONLY');
  expect(unresponsive).toBe(1);
});

test('with TLS there is no line', async () => {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const arrived: Socket[] = [];
  listening.on('connection', (socket) => arrived.push(socket));
  lineTo(`rediss://127.0.0.1:${portOf(listening)}`);
  // Connections arrive in the order in which they are made.
  const later = connect(portOf(listening), '127.0.0.1');
  await eventually('one has arrived', () => arrived.length > 0);
  expect(arrived[0]?.remotePort).toBe(later.localPort);
  for (const socket of [later, ...arrived]) socket.destroy();
  listening.close();
});

test('a closed line fails who waits on it and stays closed', async () => {
  lineTo(server.url);
  await isOpen();
  const waiting = line.send('blpop', ['nothing', '0']);
  line.close();
  await expect(waiting).rejects.toThrow('was closed');
  await expect(line.send('ping', [])).rejects.toThrow('not connected');
  await eventually('Redis sees nobody', async () => (await connectionsNow()).length === 0);
});

test('while its line is lost a connection uses its client', async () => {
  connection = createRedisConnection({ target: { url: server.url, prefix: '' }, log: silentLog });
  await connection.start();
  const live = connection;
  // The client, the subscriber and the line.
  await eventually('all are there', async () => (await connectionsNow()).length === 3);
  const lineId = (await connectionsNow()).at(-1) ?? '';
  expect(await live.send('echo', ['before'])).toBe('before');
  await killConnections([lineId]);
  // One that is sent before the end is heard of fails with it; the others go another way.
  await Promise.allSettled([live.send('echo', ['at once'])]);
  for (let round = 0; round < 20; round += 1) {
    expect(await live.send('echo', [`round ${round}`])).toBe(`round ${round}`);
  }
  expect(live.commandsReady()).toBe(true);
  await eventually('the line is back', async () => (await connectionsNow()).length === 3);
  expect(await live.send('echo', ['again'])).toBe('again');
});
