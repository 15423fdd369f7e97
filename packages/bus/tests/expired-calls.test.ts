import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { RequestedAmounts } from '@model-gateway/billing';
import { Redis } from 'ioredis';
import { createRedisAdmission, type RedisAdmission } from '../src/redis/redis-admission.ts';
import { ageAdmissions } from './age-admissions.ts';
import { ACCOUNT, request, WINDOW } from './contract/admission-subject.ts';
import type { Subject } from './contract/subject.ts';
import { redisSubject, sharedRedisUrl } from './subjects.ts';

const KEPT_MS = 15 * 60_000;
// More than one request removes.
const MANY = 6_000;
const TIER: RequestedAmounts['tier'] = { monthlyUsdQuota: null, monthlyTokenQuota: 100 };

let client: Redis;
let prefix = '';
let subject: Subject<RedisAdmission>;

beforeEach(async () => {
  client = new Redis(sharedRedisUrl());
  subject = await redisSubject((options) => {
    ({ prefix } = options);
    return createRedisAdmission({ ...options, epochCounter: ACCOUNT_EPOCH_KEY });
  });
  await subject.port.updateHints({
    windows: [{ ...WINDOW, tokens: 0, costUsd: 0, version: 1 }],
    accounts: [{ ...ACCOUNT, balance: 0, hasHistory: false, increases: 0, version: 1 }],
  });
});
afterEach(async () => {
  client.disconnect();
  await subject.close();
});

const begin = (id: string, { tier = TIER, tokens = 1 } = {}) =>
  subject.port.admit(
    request({
      window: WINDOW,
      account: ACCOUNT,
      call: {
        id,
        userId: 'user',
        callsMax: 2 * MANY,
        reservation: { tokens, costUsd: 0, points: 0, tier, isPriced: true, account: ACCOUNT },
      },
    }),
  );
const calls = async () => {
  const names = (await client.keys(`${prefix}call:*`)).map((key) => key.split(':').at(-1) ?? '');
  expect((await client.zrange(`${prefix}calls-due`, '0', '-1')).length).toBe(names.length);
  return names.toSorted();
};

test('among very many calls the expired ones are found by the next refusals, and the others stay', async () => {
  const unlimited: typeof TIER = { monthlyUsdQuota: null, monthlyTokenQuota: null };
  const lost = Array.from({ length: MANY }, (_, index) => `lost ${index}`);
  for (let at = 0; at < MANY; at += 500) {
    await Promise.all(lost.slice(at, at + 500).map((id) => begin(id, { tier: unlimited })));
  }
  await ageAdmissions(prefix, KEPT_MS);
  await begin('running', { tier: unlimited, tokens: 7 });
  let refused = 0;
  let answer = await begin('next');
  for (; answer.outcome === 'admitted' && !answer.hasBegun; answer = await begin('next'))
    refused += 1;
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThan(5);
  const left = await calls();
  const lostLeft = left.filter((id) => id.startsWith('lost')).length;
  expect(left).toContain('running');
  expect(answer).toMatchObject({ hasBegun: true, reserved: { tokens: lostLeft + 7 } });
});

test('calls of lost processes do not stay where no request is refused', async () => {
  await begin('lost');
  await begin('lost as well');
  await ageAdmissions(prefix, 2 * KEPT_MS);
  expect(await begin('next')).toMatchObject({ hasBegun: true });
  expect(await calls()).toEqual(['next']);
});

const end = async (id: string) => {
  subject.port.endCall({ id, userId: 'user', endsCall: true, endsReservation: true });
  await subject.port.flush();
};

test('the end of a call removes the calls of lost processes, too', async () => {
  await begin('lost');
  await begin('other');
  await ageAdmissions(prefix, 2 * KEPT_MS);
  await end('other');
  expect(await calls()).toEqual([]);
  expect(await client.keys(`${prefix}sums:*`)).toEqual([]);
});

test('what lost calls reserved is forgotten before the calls are, so that nothing of it stays for ever', async () => {
  await begin('lost');
  await begin('other');
  await end('other');
  const [sums = ''] = await client.keys(`${prefix}sums:*:user:user`);
  const [text = ''] = await client.keys(`${prefix}call:*:lost`);
  const left = await client.pttl(sums);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(KEPT_MS);
  expect(await client.pttl(text)).toBeGreaterThan(KEPT_MS);
});
