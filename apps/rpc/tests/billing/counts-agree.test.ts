import {
  rpcMethods,
  type FailedRequest,
  type RpcResult,
  type UsageEvent,
} from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { fullSize, usageEvent } from '@model-gateway/testkit';
import * as fc from 'fast-check';
import { openGroupScene, type GroupScene, type TestUser } from '../groups/group-scene.ts';

type Sums = RpcResult<'usage.summary'>['total'];
type Listed = RpcResult<'requests.list'>['requests'];

/** How a request can end. */
interface End {
  readonly isServed: boolean;
  readonly status: number;
}

const PERIOD = { from: '2026-03-01', to: '2026-03-31' };
const ENDS: readonly End[] = [
  { isServed: true, status: 200 },
  // Its client stopped, and its upstream failed, after a part of the answer.
  { isServed: true, status: 499 },
  { isServed: true, status: 502 },
  // Refused, failed, and stopped before the answer began.
  { isServed: false, status: 429 },
  { isServed: false, status: 502 },
  { isServed: false, status: 499 },
];
const asked = fc.record({
  end: fc.constantFrom(...ENDS),
  day: fc.integer({ min: 1, max: 3 }),
  model: fc.constantFrom('m', 'other'),
  upstream: fc.constantFrom('east', 'west'),
  repeats: fc.integer({ min: 1, max: 3 }),
});
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

let scene: GroupScene;
beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());

const createdAt = ({ day }: Asked): string => `2026-03-0${day}T05:06:07.890Z`;

const servedOf = ({ id }: TestUser, each: Asked): UsageEvent =>
  usageEvent(id, {
    created_at: createdAt(each),
    model: each.model,
    upstream: each.upstream,
    status: each.end.status,
  });

const failedOf = ({ id }: TestUser, each: Asked): FailedRequest => ({
  id: newId(),
  createdAt: new Date(createdAt(each)),
  userId: id,
  keyId: null,
  groupId: null,
  apiKeyId: `jwt-${id}`,
  project: null,
  backend: 'gateway',
  model: each.model,
  countedModel: each.model,
  upstream: each.upstream,
  refId: null,
  latencyMs: 1,
  status: each.end.status,
  errorCode: each.end.status === 499 ? 'client_left' : 'bad_gateway',
  error: '',
  requestId: null,
  attempts: null,
  repeats: each.repeats,
});

async function userWith(requests: readonly Asked[]): Promise<TestUser> {
  const user = await scene.createUser('asking');
  await scene.context.database.usage.record(
    requests.filter(({ end }) => end.isServed).map((each) => servedOf(user, each)),
    {
      pointsPerUsd: 100,
      failures: requests.filter(({ end }) => !end.isServed).map((each) => failedOf(user, each)),
    },
  );
  return user;
}

async function sumsBy(groupBy: string, user: TestUser): Promise<readonly Sums[]> {
  const { result } = await scene.call('usage.summary', { ...PERIOD, group_by: groupBy }, user);
  const { groups, total } = result as RpcResult<'usage.summary'>;
  return [total, ...groups];
}

async function listed(user: TestUser, status?: 'ok' | 'error' | 'cancelled'): Promise<Listed> {
  const { result } = await scene.call(
    'requests.list',
    { ...PERIOD, limit: 200, ...(status === undefined ? {} : { status }) },
    user,
  );
  return (result as RpcResult<'requests.list'>).requests;
}

async function csvTotal(user: TestUser): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(
    `${scene.url}/api/usage.csv?from=2026-03-01&to=2026-03-31&group_by=day`,
    {
      headers: { authorization: `Bearer ${user.token}` },
    },
  );
  const lines = (await response.text()).trimEnd().split('\r\n');
  const [names = [], values = []] = [lines[0], lines.at(-1)].map((line) => line?.split(','));
  return Object.fromEntries(names.map((name, index) => [name, Number(values[index])]));
}

const countOf = (requests: Listed): number =>
  requests.reduce((sum, { repeats }) => sum + repeats, 0);

const countsOf = ({ requests, failed, errors, cancelled }: Sums) => ({
  asked: requests + failed,
  errors,
  failed,
  cancelled,
});

test('sums, lists and files count any mix of served, failed, refused and stopped requests alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { maxLength: 25 }), async (requests) => {
      const user = await userWith(requests);
      const all = await listed(user);
      const expected = {
        asked: countOf(all),
        errors: countOf(await listed(user, 'error')),
        failed: countOf(
          all.filter(({ error_code: code, total_tokens: tokens }) => code !== null && tokens === 0),
        ),
        cancelled: all.filter(({ status, total_tokens: tokens }) => status === 499 && tokens > 0)
          .length,
      };
      const stopped = countOf(await listed(user, 'cancelled'));
      expect(countOf(await listed(user, 'ok')) + expected.errors + stopped).toBe(expected.asked);
      const total = requests.reduce(
        (sum, { end, repeats }) => sum + (end.isServed ? 1 : repeats),
        0,
      );
      expect(expected.asked).toBe(total);
      for (const groupBy of rpcMethods['usage.summary'].params.shape.group_by.options) {
        const [sums, ...groups] = await sumsBy(groupBy, user);
        if (sums === undefined) throw new Error('no total');
        expect({ groupBy, ...countsOf(sums) }).toEqual({ groupBy, ...expected });
        for (const count of ['requests', 'errors', 'failed', 'cancelled'] as const)
          expect(groups.reduce((sum, group) => sum + group[count], 0)).toBe(sums[count]);
        for (const { requests: served, failed, errors } of groups)
          expect(errors).toBeLessThanOrEqual(served + failed);
      }
      expect(countsOf((await csvTotal(user)) as unknown as Sums)).toEqual(expected);
    }),
    { numRuns: fullSize(20, { small: 5 }) },
  );
});
