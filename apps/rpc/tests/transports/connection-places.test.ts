import { WebSocket } from 'ws';
import { createTestAccount, waitUntil } from '@model-gateway/testkit';
import { startTwoServers, type TwoServers } from '../two-servers.ts';

const MAX = 4;
const USER_MAX = 5;
const TOO_MANY = {
  error: {
    message: `too many event streams and sockets without a token: at most ${MAX} per client address at a time`,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    param: null,
  },
};

let servers: TwoServers;
const opened: (() => void)[] = [];
beforeEach(async () => {
  servers = await startTwoServers({
    SERVICE_MAX_ANON_STREAMS_PER_ADDRESS: String(MAX),
    SERVICE_ANON_WS_IDLE_SECS: '3600',
    SERVICE_MAX_CALLS_PER_USER: String(USER_MAX),
  });
});
afterEach(async () => {
  for (const close of opened.splice(0)) close();
  await servers.close();
});

interface Opening {
  readonly server?: number;
  readonly address?: string | undefined;
  readonly token?: string;
}

/** How the server answered, the body of a refusal, and what closes the connection. */
interface Answer {
  readonly status: number;
  readonly body?: unknown;
  close(): void;
}

const headersOf = ({ address = '192.0.2.1', token }: Opening) => ({
  'x-forwarded-for': address,
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});
const urlOf = ({ server = 0 }: Opening): string => servers.urls[server === 0 ? 0 : 1];

async function openStream(
  opening: Opening = {},
  headers: Readonly<Record<string, string>> = headersOf(opening),
) {
  const url = `${urlOf(opening)}/api/rpc/events?session=s`;
  const response = await fetch(url, { headers });
  const { status } = response;
  // Holds the answer: `fetch` ends the connection of one that nothing refers to any more.
  const close = () => void response.body?.cancel();
  if (status !== 200) return { status, body: await response.json(), close: () => undefined };
  opened.push(close);
  return { status, close };
}

async function openWebSocket(opening: Opening = {}): Promise<Answer> {
  const socket = new WebSocket(`${urlOf(opening).replace(/^http/, 'ws')}/api/rpc`, {
    headers: headersOf(opening),
  });
  const close = () => socket.terminate();
  opened.push(close);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => resolve({ status: 101, close }));
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text), close }),
      );
    });
  });
}

/** Takes all places of the address, over both servers and surfaces. */
async function takeAll(address?: string): Promise<readonly Answer[]> {
  const answers = [
    await openStream({ server: 0, address }),
    await openStream({ server: 1, address }),
    await openWebSocket({ server: 0, address }),
    await openWebSocket({ server: 1, address }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 101, 101]);
  return answers;
}

test('one address may have so many event streams and sockets without a token, over both servers', async () => {
  const [first] = await takeAll();
  for (const server of [0, 1]) {
    expect(await openStream({ server })).toMatchObject({ status: 429, body: TOO_MANY });
    expect(await openWebSocket({ server })).toMatchObject({ status: 429, body: TOO_MANY });
  }
  // Other addresses, users, and clients on this machine that came through no proxy.
  await takeAll('192.0.2.2');
  const { token } = await createTestAccount(servers.test.context, 'user@example.com');
  expect((await openWebSocket({ token })).status).toBe(101);
  expect((await openStream({ token, server: 1 })).status).toBe(200);
  for (let count = 0; count < MAX * 2; count += 1)
    expect((await openStream({}, {})).status).toBe(200);
  // A place that is given back on one server is free on the other.
  first?.close();
  await waitUntil(async () => (await openWebSocket({ server: 1 })).status === 101, {
    what: 'a free place',
  });
  expect((await openStream({ server: 0 })).status).toBe(429);
});

test('a token that is not valid takes a place like none', async () => {
  await takeAll();
  expect((await openWebSocket({ token: 'no token' })).status).toBe(429);
  expect((await openStream({ token: 'no token' })).status).toBe(429);
});

test('one user may have so many event streams and sockets, over both servers and all addresses', async () => {
  const { token } = await createTestAccount(servers.test.context, 'user@example.com');
  const open = (count: number) => ({ token, server: count % 2, address: `192.0.2.${count}` });
  const [first] = [await openStream(open(1)), await openStream(open(2))];
  for (const count of [3, 4, 5]) expect((await openWebSocket(open(count))).status).toBe(101);
  const refused = { status: 429, body: { error: { code: 'rate_limit_exceeded' } } };
  for (const count of [6, 7]) {
    expect(await openStream(open(count))).toMatchObject(refused);
    expect(await openWebSocket(open(count))).toMatchObject(refused);
  }
  // Also from this machine, where only clients without a token are not limited.
  const bearer = { authorization: `Bearer ${token}` };
  expect(await openStream({}, bearer)).toMatchObject(refused);
  // Calls are counted apart, other users are not affected.
  const other = await createTestAccount(servers.test.context, 'other@example.com');
  expect((await openStream({ token: other.token })).status).toBe(200);
  first.close();
  await waitUntil(async () => (await openWebSocket(open(8))).status === 101, {
    what: 'a free place',
  });
});

test('with Redis gone the limit holds in each server, for what was open before too', async () => {
  await takeAll();
  await servers.loseRedis();
  for (const server of [0, 1]) {
    // Two are open here.
    expect((await openStream({ server })).status).toBe(200);
    expect((await openWebSocket({ server })).status).toBe(101);
    expect(await openStream({ server })).toMatchObject({ status: 429, body: TOO_MANY });
    expect(await openWebSocket({ server })).toMatchObject({ status: 429, body: TOO_MANY });
    expect((await openStream({ server, address: '192.0.2.3' })).status).toBe(200);
  }
});

test('with Redis gone the limit of a user holds in each server, for what was open before too', async () => {
  const { token } = await createTestAccount(servers.test.context, 'user@example.com');
  const open = (count: number) => ({ token, server: count % 2, address: `192.0.2.${count}` });
  const first = await openStream(open(0));
  expect([first.status, (await openWebSocket(open(1))).status]).toEqual([200, 101]);
  expect((await openWebSocket(open(2))).status).toBe(101);
  await servers.loseRedis();
  const places = { 0: USER_MAX - 2, 1: USER_MAX - 1 };
  for (const server of [0, 1] as const) {
    // From an address of its own each: the limit is that of the user.
    for (let count = 0; count < places[server]; count += 1) {
      const opening = { token, server, address: `198.51.100.${count}` };
      const isStream = count % 2 === 0;
      const { status } = await (isStream ? openStream(opening) : openWebSocket(opening));
      expect(status).toBe(isStream ? 200 : 101);
    }
    const refused = { status: 429, body: { error: { code: 'rate_limit_exceeded' } } };
    expect(await openStream({ token, server })).toMatchObject(refused);
    expect(await openWebSocket({ token, server })).toMatchObject(refused);
    const other = await createTestAccount(servers.test.context, `other-${server}@example.com`);
    expect((await openStream({ token: other.token, server })).status).toBe(200);
  }
  first.close();
  await waitUntil(async () => (await openWebSocket({ token })).status === 101, {
    what: 'a free place',
  });
});
