import { createGate, waitUntil, type RpcAnswer, type TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

const MAX = 6;
const TURNS = 3;
const WAITING_CHANGES = `
  SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
const REFUSAL = {
  code: -32_000,
  message:
    `too many calls at a time: at most ${MAX} per user, or per client address without a token. ` +
    'Wait for the answers of earlier calls; an operator raises the limit with SERVICE_RPC_CALLS_PER_USER.',
  data: expect.objectContaining({ retry_after_secs: 1 }),
};

let server: RpcServer;
let ann: TestAccount;
let bob: TestAccount;
beforeAll(async () => {
  server = await startRpc({ SERVICE_RPC_CALLS_PER_USER: String(MAX) });
  await server.createAccount('admin@example.com');
  ann = await server.createAccount('ann@example.com');
  bob = await server.createAccount('bob@example.com');
});
afterAll(() => server.test.close());

/** Holds the end of the audit log, so that audited calls stay in progress until `release`. */
async function holdAudit() {
  const { database } = server.test.context;
  const [held, gate] = [createGate(), createGate()];
  const entry = { action: 'test', target: null, before: null, after: null };
  const actor = { kind: 'admin-token', userId: null } as const;
  const holding = database.transaction(async ({ audit }) => {
    await audit.append({ ...entry, actor, clientIp: '', requestId: '' });
    held.open();
    await gate.opened;
  });
  await Promise.race([held.opened, holding]);
  return async () => {
    gate.open();
    await holding;
  };
}

const createGroup = (user: TestAccount): Promise<RpcAnswer> =>
  server.call('group.create', { name: 'g' }, user.token);

/** As many audited calls as a user may have at a time. Resolves when one more is refused. */
async function fill(call: () => Promise<RpcAnswer>, probe: () => Promise<RpcAnswer>) {
  const held = Array.from({ length: MAX }, call);
  await waitUntil(async () => (await probe()).error !== undefined, { what: 'a full user' });
  return Promise.all(held);
}

test('a user has so many calls at a time over all connections, and others are served meanwhile', async () => {
  const release = await holdAudit();
  const socket = await openSocket(server.url, ann.token);
  let late: Promise<RpcAnswer> | undefined;
  const ask = () => server.call('auth.me', {}, ann.token);
  const held = fill(() => createGroup(ann), ask);
  try {
    await waitUntil(async () => (await ask()).error !== undefined, { what: 'a full user' });
    expect((await ask()).error).toMatchObject(REFUSAL);
    // A socket is read no faster than its calls are answered.
    late = socket.call('auth.me');
    // Public methods count for the user of the token as well.
    expect((await server.call('system.status', {}, ann.token)).error).toMatchObject(REFUSAL);
    const csv = await fetch(`${server.url}/api/usage.csv`, {
      headers: { authorization: `Bearer ${ann.token}` },
    });
    expect([csv.status, csv.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await server.call('auth.me', {}, bob.token)).result).toMatchObject({ id: bob.id });
    expect((await server.call('conversations.create', {}, bob.token)).error).toBeUndefined();
    expect((await server.call('audit.list', {}, ADMIN_TOKEN)).error).toBeUndefined();
  } finally {
    await release();
  }
  expect((await held).map(({ error }) => error)).toEqual(Array(MAX).fill(undefined));
  expect((await late)?.result).toMatchObject({ id: ann.id });
  expect((await ask()).result).toMatchObject({ id: ann.id });
});

test('the calls of a batch count one by one, because they run one after another', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'auth.me' };
  const response = await fetch(`${server.url}/api/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}` },
    body: JSON.stringify(Array.from({ length: MAX * 3 }, () => call)),
  });
  const answers = (await response.json()) as RpcAnswer[];
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(answers).toHaveLength(MAX * 3);
});

test('calls without a token count by address', async () => {
  let users = 0;
  const from = async (address: string | undefined, method: string, params: unknown = {}) => {
    const response = await fetch(`${server.url}/api/rpc`, {
      method: 'POST',
      headers: address === undefined ? {} : { 'x-forwarded-for': address },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as RpcAnswer;
  };
  const register = () => {
    users += 1;
    const applicant = { email: `new-${users}@example.com`, password: 'long enough' };
    return from('192.0.2.1', 'auth.register', applicant);
  };
  const release = await holdAudit();
  const ask = () => from('192.0.2.1', 'system.status');
  const held = fill(register, ask);
  try {
    await waitUntil(async () => (await ask()).error !== undefined, { what: 'a full address' });
    expect((await ask()).error).toMatchObject(REFUSAL);
    expect((await from('192.0.2.2', 'system.status')).error).toBeUndefined();
    expect((await from(undefined, 'system.status')).error).toBeUndefined();
  } finally {
    await release();
  }
  expect((await held).map(({ error }) => error)).toEqual(Array(MAX).fill(undefined));
});

test('audited calls that wait take few connections, and the users are served in turn', async () => {
  const release = await holdAudit();
  const { database } = server.test.context;
  const users = await Promise.all(
    ['c', 'd', 'e', 'f'].map((name) => server.createAccount(`${name}@example.com`)),
  );
  const held = users.flatMap((user) => Array.from({ length: MAX - 1 }, () => createGroup(user)));
  const [first] = users;
  const changes = () => server.test.query(WAITING_CHANGES);
  const isSettled = async () => {
    const { total, idle, waiting } = database.poolStats();
    return total - idle === 1 + TURNS && waiting === 0 && (await changes()).length === TURNS;
  };
  await waitUntil(isSettled, { what: 'changes that wait for the log' });
  expect((await server.call('conversations.list', {}, bob.token)).error).toBeUndefined();
  const order: string[] = [];
  const late = createGroup(bob).then(() => order.push('bob'));
  const last = held.map((call) => call.then(() => order.push('other')));
  await release();
  await Promise.all([...last, late]);
  expect(order).toHaveLength(users.length * (MAX - 1) + 1);
  // Every user has one turn before it; all others come after it.
  expect(order.indexOf('bob')).toBeLessThan(users.length * 3);
  expect((await server.call('group.list', {}, first?.token)).result).toHaveLength(MAX - 1);
});
