import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { AdmissionRequest } from '@model-gateway/billing';
import { createRedisAdmission, type RedisAdmission } from '../src/redis/redis-admission.ts';
import type { RedisConnection } from '../src/redis/redis-connection.ts';
import { callOf, NONE, request, reserving } from './contract/admission-subject.ts';
import type { Subject } from './contract/subject.ts';
import { redisSubject, removeKeys, sharedRedisUrl } from './subjects.ts';

const POOL = { type: 'group', id: 'pool' } as const;
const KEY = { id: 'limited', budgetUsd: null, tokensPerMinute: null };
const UNLIMITED = { monthlyUsdQuota: null, monthlyTokenQuota: null };
const AMOUNTS = { tokens: 10, costUsd: 0.5, points: 3 };

let losesAnswers = false;
let subject: Subject<{ readonly admission: RedisAdmission; readonly prefix: string }>;

/** Redis runs each command, but the answer may be lost. */
const unreliable = (connection: RedisConnection): RedisConnection => ({
  ...connection,
  async run(command) {
    const answer = await connection.run(command);
    if (losesAnswers) throw new Error('no answer');
    return answer;
  },
});

beforeEach(async () => {
  losesAnswers = false;
  subject = await redisSubject(({ connection, prefix }) => ({
    admission: createRedisAdmission({
      connection: unreliable(connection),
      prefix,
      epochCounter: ACCOUNT_EPOCH_KEY,
    }),
    prefix,
  }));
  // Redis may not know the script yet.
  await subject.port.admission.admit(request({ call: callOf('first', { userId: 'another' }) }));
});
afterEach(() => subject.close());

const asked = (id: string): AdmissionRequest =>
  reserving(id, { ...AMOUNTS, tier: UNLIMITED, key: KEY }, POOL);

async function loseAnswerOf(lost: AdmissionRequest): Promise<void> {
  losesAnswers = true;
  await expect(subject.port.admission.admit(lost)).rejects.toThrow('no answer');
  losesAnswers = false;
}

const RESERVED = { hasBegun: true, reserved: AMOUNTS, key: { reservedUsd: 0.5 } };

test.each([
  ['with its reservation', asked('long')],
  ['without a reservation', request({ call: callOf('long') })],
])('a renewal %s that fails ends neither the call nor what it reserves', async (_, renewal) => {
  const { admission } = subject.port;
  await admission.admit(asked('long'));
  await loseAnswerOf({ ...renewal, renews: true });
  expect(await admission.admit(asked('next'))).toMatchObject(RESERVED);
  const third = request({ call: callOf('third', { callsMax: 2 }) });
  expect(await admission.admit(third)).toMatchObject({ outcome: 'busy' });
});

test('a call that fails to begin leaves nothing', async () => {
  const { admission } = subject.port;
  await loseAnswerOf(asked('lost'));
  expect(await admission.admit(asked('next'))).toMatchObject({
    reserved: NONE,
    key: { reservedUsd: 0 },
  });
});

test('a renewal brings back what Redis has lost', async () => {
  const { admission, prefix } = subject.port;
  await admission.admit(asked('long'));
  await removeKeys(sharedRedisUrl(), prefix);
  await admission.admit({ ...asked('long'), renews: true });
  expect(await admission.admit(asked('next'))).toMatchObject(RESERVED);
});
