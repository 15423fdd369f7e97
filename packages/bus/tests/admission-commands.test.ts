import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { AdmissionRequest } from '@model-gateway/billing';
import type { Redis } from 'ioredis';
import { createRedisAdmission, type RedisAdmission } from '../src/redis/redis-admission.ts';
import type { RedisConnection } from '../src/redis/redis-connection.ts';
import type { Subject } from './contract/subject.ts';
import { ACCOUNT, KEY, request, WINDOW } from './contract/admission-subject.ts';
import { redisSubject } from './subjects.ts';

const TIER = { monthlyUsdQuota: 1, monthlyTokenQuota: 100 };
const AMOUNTS = { tokens: 10, costUsd: 0.1, points: 1 };
const POOL = { type: 'group', id: 'pool' } as const;

let commands: string[] = [];
let subject: Subject<RedisAdmission>;

/** Notes each command that is sent. */
const noting = (connection: RedisConnection): RedisConnection => ({
  ...connection,
  run: (command) => connection.run((client) => command(new Proxy(client, { get: notingMethod }))),
});

function notingMethod(client: Redis, name: string): unknown {
  const method: unknown = Reflect.get(client, name);
  if (typeof method !== 'function') return method;
  return (...values: unknown[]): unknown => {
    commands.push(name);
    return Reflect.apply(method, client, values);
  };
}

beforeEach(async () => {
  subject = await redisSubject(({ connection, prefix }) =>
    createRedisAdmission({
      connection: noting(connection),
      prefix,
      epochCounter: ACCOUNT_EPOCH_KEY,
    }),
  );
  // Redis may not know the scripts yet.
  await subject.port.admit(reserving('first'));
  await subject.port.updateHints({ windows: [], accounts: [], settled: [SETTLED] });
  commands = [];
});
afterEach(() => subject.close());

const SETTLED = { id: 'first', userId: 'user' };
const reserving = (id: string, account: AdmissionRequest['account'] = ACCOUNT) =>
  request({
    limits: [KEY],
    window: WINDOW,
    account,
    call: {
      id,
      userId: 'user',
      callsMax: 500,
      reservation: { ...AMOUNTS, tier: TIER, isPriced: true, account: account ?? ACCOUNT },
    },
  });
const ended = (id: string) => ({
  id,
  userId: 'user',
  endsCall: true,
  endsReservation: true,
  usage: AMOUNTS,
});

test('a request with its limits, facts, call and reservation is one command, and so is an end', async () => {
  const { port: admission } = subject;
  await admission.admit(reserving('a'));
  expect(commands).toEqual(['evalsha']);
  admission.endCall(ended('a'));
  expect(commands).toEqual(['evalsha', 'evalsha']);
  await Promise.all([admission.admit(reserving('b', POOL)), admission.admit(reserving('c'))]);
  expect(commands).toEqual(['evalsha', 'evalsha', 'evalsha', 'evalsha']);
});

test('settling calls is one command together with the facts', async () => {
  await subject.port.updateHints({
    windows: [{ ...WINDOW, tokens: 10, costUsd: 0.1, version: 1 }],
    accounts: [{ ...ACCOUNT, balance: 0, hasHistory: false, increases: 0, version: 1 }],
    settled: ['a', 'b', 'c'].map((id) => ({ id, userId: 'user' })),
  });
  expect(commands).toEqual(['evalsha']);
});
