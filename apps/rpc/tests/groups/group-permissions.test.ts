import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { RpcAnswer } from '@model-gateway/testkit';
import {
  openGroupScene,
  type GroupScene,
  type PopulatedGroup,
  type TestUser,
} from './group-scene.ts';

type GroupMethodName = Extract<RpcMethodName, `group.${string}`>;

const WHO = [
  'owner',
  'admin',
  'member',
  'outsider',
  'deactivated',
  'platform',
  'anonymous',
] as const;
type Who = (typeof WHO)[number];

/** The error of each outcome. */
const OUTCOMES = {
  ok: undefined,
  hidden: { code: -32_000, message: 'group not found' },
  member: { code: -32_000, message: 'already a member of the group' },
  barred: { code: -32_000, message: expect.stringContaining('deactivated') },
  role: { code: -32_007, message: expect.stringContaining('needs the admin role in the group') },
  owns: { code: -32_007, message: expect.stringContaining('for the owner of the group alone') },
  staff: { code: -32_007, message: expect.stringContaining('admin access required') },
  auth: { code: -32_005, message: 'authentication required' },
} as const;
type Outcome = keyof typeof OUTCOMES;

type Row = readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];
const groupAdmin: Row = ['ok', 'ok', 'role', 'hidden', 'hidden', 'ok', 'auth'];

// The columns are those of WHO.
const MATRIX = {
  'group.create': ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'auth'],
  'group.list': ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'auth'],
  'group.get': ['ok', 'ok', 'ok', 'hidden', 'hidden', 'ok', 'auth'],
  'group.update': groupAdmin,
  'group.delete': ['ok', 'owns', 'owns', 'hidden', 'hidden', 'owns', 'auth'],
  'group.members.list': groupAdmin,
  'group.members.add': groupAdmin,
  'group.members.update': groupAdmin,
  'group.members.remove': groupAdmin,
  'group.invite.create': groupAdmin,
  'group.invite.accept': ['member', 'member', 'member', 'ok', 'barred', 'ok', 'auth'],
  'group.models.list': groupAdmin,
  'group.models.allow': groupAdmin,
  'group.models.deny': groupAdmin,
  'group.credits.topup': ['staff', 'staff', 'staff', 'staff', 'staff', 'ok', 'auth'],
  'group.credits.balance': groupAdmin,
  'group.credits.allocate': groupAdmin,
} as const satisfies Record<GroupMethodName, Row>;

const METHODS = Object.keys(MATRIX) as GroupMethodName[];

let scene: GroupScene;
/** Refused calls change nothing, so that they can share a group. */
let unchanged: PopulatedGroup;
/** For calls that succeed. */
let shared: PopulatedGroup;

beforeAll(async () => {
  scene = await openGroupScene();
  unchanged = await scene.populatedGroup();
  shared = await scene.populatedGroup();
});
afterAll(() => scene.close());

/** Params with which each method would succeed. */
async function paramsOf(method: GroupMethodName, group: PopulatedGroup): Promise<object> {
  const group_id = group.id;
  switch (method) {
    case 'group.create':
      return { name: 'another' };
    case 'group.list':
      return {};
    case 'group.update':
      return { group_id, name: 'renamed' };
    case 'group.members.add':
      return { group_id, email: group.deactivated.email };
    case 'group.members.update':
      return { group_id, user_id: group.member.email, cost_multiplier: 2 };
    case 'group.members.remove':
      return { group_id, user_id: group.member.email };
    case 'group.invite.accept':
      return { token: await inviteTo(group) };
    case 'group.models.allow':
    case 'group.models.deny':
      return { group_id, model_ids: ['a'] };
    case 'group.credits.topup':
      return { group_id, points: 1 };
    case 'group.credits.allocate':
      await scene.call('group.credits.topup', { group_id, points: 1 }, scene.platform);
      return { group_id, user_id: group.member.email, points: 1 };
    default:
      return { group_id };
  }
}

async function inviteTo(group: PopulatedGroup): Promise<string> {
  const { result } = await scene.call('group.invite.create', { group_id: group.id }, group.owner);
  return rpcMethods['group.invite.create'].result.parse(result).token;
}

function personOf(who: Who, group: PopulatedGroup): TestUser | undefined {
  if (who === 'anonymous') return undefined;
  return who === 'outsider' || who === 'platform' ? scene[who] : group[who];
}

function expectOutcome(answer: RpcAnswer, method: GroupMethodName, outcome: Outcome): void {
  expect(answer.error).toEqual(OUTCOMES[outcome]);
  const isAsDeclared = rpcMethods[method].result.safeParse(answer.result).success;
  expect(isAsDeclared).toBe(outcome === 'ok');
}

const CELLS = METHODS.flatMap((method) =>
  WHO.map((who, column) => ({ method, who, outcome: MATRIX[method][column] ?? 'ok' })),
);

test('the matrix has every group method', () => {
  const declared = Object.keys(rpcMethods).filter((name) => name.startsWith('group.'));
  expect(METHODS.toSorted()).toEqual(declared.toSorted());
  expect(CELLS).toHaveLength(17 * 7);
});

/** These work once on a group; all others can share one. */
const ONCE: readonly GroupMethodName[] = [
  'group.delete',
  'group.members.add',
  'group.members.remove',
  'group.invite.accept',
];

test.each(CELLS.filter(({ outcome }) => outcome === 'ok'))(
  '$method by $who: $outcome',
  async ({ method, who, outcome }) => {
    const group = ONCE.includes(method) ? await scene.populatedGroup() : shared;
    const params = await paramsOf(method, group);
    const answer = await scene.call(method, params, personOf(who, group));
    expectOutcome(answer, method, outcome);
  },
);

test.each(METHODS)('%s refuses everyone else, and nothing changes', async (method) => {
  const params = await paramsOf(method, unchanged);
  const before = await stateOf(unchanged);
  const refused = CELLS.filter((cell) => cell.method === method && cell.outcome !== 'ok');
  for (const { who, outcome } of refused) {
    const answer = await scene.call(method, params, personOf(who, unchanged));
    expect({ who, error: answer.error }).toEqual({ who, error: OUTCOMES[outcome] });
    expectOutcome(answer, method, outcome);
  }
  expect(await stateOf(unchanged)).toEqual(before);
});

async function stateOf({ id }: PopulatedGroup): Promise<unknown> {
  const { groups, members, modelRules, ledger } = scene.context.database;
  return Promise.all([
    groups.find(id, null),
    members.list(id, { countMax: 100 }),
    modelRules.list(id),
    ledger.read({ type: 'group', id }),
  ]);
}

const ABOUT_ONE_GROUP = METHODS.filter(
  (name) => !['group.create', 'group.list', 'group.invite.accept'].includes(name),
);

test.each(ABOUT_ONE_GROUP)('%s of a missing group returns not found', async (method) => {
  const params = { ...(await paramsOf(method, unchanged)), group_id: newId() };
  const answer = await scene.call(method, params, scene.platform);
  expect(answer.error).toEqual(OUTCOMES.hidden);
});

test('a platform admin who is an ordinary member has the rights of a platform admin', async () => {
  const { id, owner } = await scene.populatedGroup();
  const params = { group_id: id, email: scene.platform.email };
  await scene.call('group.members.add', params, owner);
  const answer = await scene.call('group.update', { group_id: id, name: 'x' }, scene.platform);
  expect(answer.result).toMatchObject({ name: 'x', my_role: 'member' });
});

test('the role is checked before params: a caller without the role gets no params error', async () => {
  const group = await scene.populatedGroup();
  const wrong = { group_id: group.id, rpm_ceiling: 'many' };
  const codeFor = async (who: Parameters<GroupScene['call']>[2]) =>
    (await scene.call('group.update', wrong, who)).error?.code;
  expect(await codeFor(group.member)).toBe(-32_007);
  expect(await codeFor(scene.outsider)).toBe(-32_000);
  expect(await codeFor(group.admin)).toBe(-32_602);
});
