import { listAll } from '@model-gateway/client';
import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { createTestAccount, type TestAccount } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

const ENTRIES = 7;
const PAGE = 3;

let server: RpcServer;
let admin: TestAccount;
let groupId: string;

async function must<Name extends RpcMethodName>(
  method: Name,
  params: RpcInput<Name>,
): Promise<RpcResult<Name>> {
  const { result, error } = await server.call(method, params, admin.token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as RpcResult<Name>;
}

async function times(make: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < ENTRIES; index += 1) await make(index);
}

beforeAll(async () => {
  server = await startRpc();
  admin = await server.createAccount('admin@example.com');
  await times(async (index) => {
    await must('keys.create', { name: `k${index}` });
    ({ id: groupId } = await must('group.create', { name: `g${index}` }));
    await must('conversations.create', {});
    await must('providers.add', { id: `p${index}`, name: 'the same' });
    await must('agents.register', { machine_name: 'the same', version: '1' });
    await must('aliases.set', { alias: `a${index}`, target: 'm' });
    await must('routes.set', { model: `r${index}`, targets: [{ model: 'm' }] });
  });
  await times(async (index) => {
    const { email } = await createTestAccount(server.test.context, `member-${index}@example.com`);
    await must('group.members.add', { group_id: groupId, email });
  });
  await server.test.query(
    `INSERT INTO video_jobs (id, user_id, api_key_id, model, resolved_model, request, status)
     SELECT gen_random_uuid(), $1, 'jwt', 'm', 'm', '{}', 'done' FROM generate_series(1, $2::int)`,
    [admin.id, ENTRIES],
  );
});
afterAll(() => server.test.close());

/** A list in pages of three entries, as one. `next` is the cursor after a page. */
async function inPages(
  read: (page: { limit: number }) => Promise<{ entries: readonly unknown[]; next: unknown }>,
  param: string,
): Promise<readonly unknown[]> {
  const entries: unknown[] = [];
  let next: unknown = undefined;
  do {
    const page = await read({ limit: PAGE, ...(next === undefined ? {} : { [param]: next }) });
    expect(page.entries.length).toBeLessThanOrEqual(PAGE);
    entries.push(...page.entries);
    ({ next } = page);
  } while (next !== null);
  return entries;
}

const BARE = {
  'agents.list': ['after', 'id'],
  'conversations.list': ['before', 'id'],
  'group.list': ['after', 'id'],
  'group.members.list': ['after', 'email'],
  'keys.list': ['before', 'id'],
  'providers.list': ['after', 'id'],
  'routes.list': ['after', 'model'],
} as const;

test.each(Object.entries(BARE))(
  'the pages of %s are the list, each entry once',
  async (name, [param, field]) => {
    const method = name as keyof typeof BARE;
    const params = method === 'group.members.list' ? { group_id: groupId } : {};
    const whole: readonly Record<string, unknown>[] = await must(method, params as never);
    expect(whole.length).toBeGreaterThanOrEqual(ENTRIES);
    const read = async (page: { limit: number }) => {
      const entries: typeof whole = await must(method, { ...params, ...page });
      return { entries, next: entries.length === PAGE ? entries.at(-1)?.[field] : null };
    };
    const ages = (entries: readonly unknown[]) =>
      entries.map((entry) => ({ ...(entry as object), age: null }));
    expect(ages(await inPages(read, param))).toEqual(ages(whole));
    const all = await listAll((asked, given) => must(asked, given), method, params as never);
    expect(ages(all)).toEqual(ages(whole));
  },
);

test('an entry that does not exist is followed by nothing', async () => {
  expect(await must('group.list', { after: newId() })).toEqual([]);
  expect(await must('conversations.list', { before: newId() })).toEqual([]);
  expect(await must('keys.list', { before: newId() })).toEqual([]);
  expect(await must('routes.list', { after: 'unknown' })).toEqual([]);
  const after = 'nobody@example.com';
  expect(await must('group.members.list', { group_id: groupId, after })).toEqual([]);
});

test('lists in braces say where the next page begins', async () => {
  const members = await inPages(async (page) => {
    const answer = await must('group.get', { group_id: groupId, ...page });
    expect(answer.has_more).toBe(answer.after !== null);
    return { entries: answer.members, next: answer.after };
  }, 'after');
  expect(members).toEqual((await must('group.get', { group_id: groupId })).members);
  expect(members).toHaveLength(ENTRIES + 1);
  const jobs = await inPages(async (page) => {
    const answer = await must('video.list', page);
    expect(answer.has_more).toBe(answer.before !== null);
    return { entries: answer.jobs, next: answer.before };
  }, 'before');
  expect(jobs).toEqual((await must('video.list', {})).jobs);
  expect(jobs).toHaveLength(ENTRIES);
  const aliases = await inPages(async (page) => {
    const answer = await must('aliases.list', page);
    return { entries: answer.aliases, next: answer.after };
  }, 'after');
  expect(aliases).toEqual((await must('aliases.list', {})).aliases);
});
