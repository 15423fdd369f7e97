import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const KEPT_MAX = 50;

describe('memory events in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  async function newUser(): Promise<string> {
    const id = newId();
    const email = `${id}@example.com`;
    await database.users.create({ id, email, name: '', passwordHash: 'hash' });
    return id;
  }
  const error = (userId: string, detail: string) => ({
    userId,
    at: new Date('2026-01-02T03:04:05.678Z'),
    kind: 'error' as const,
    nodeIds: [],
    detail,
  });
  const errors = (userId: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => error(userId, `${from + index}`));
  const append = (events: readonly ReturnType<typeof error>[]) =>
    database.memoryEvents.append(events, KEPT_MAX);
  const detailsOf = async (userId: string) =>
    (await database.memoryEvents.newest(userId, 100)).map(({ detail }) => detail);
  const counted = (from: number, to: number) =>
    Array.from({ length: from - to }, (_, index) => `${from - 1 - index}`);

  it('come back as they were, the newest first, to their user alone', async () => {
    const [ann, bob] = [await newUser(), await newUser()];
    await database.memoryEvents.append(
      [
        {
          userId: ann,
          at: new Date('2026-01-02T03:04:05.678Z'),
          kind: 'recall',
          nodeIds: ['a', 'quo"te, {b}'],
          detail: null,
        },
        error(bob, 'not hers'),
        error(ann, 'away'),
      ],
      KEPT_MAX,
    );
    expect(await database.memoryEvents.newest(ann, 10)).toEqual([
      { at: new Date('2026-01-02T03:04:05.678Z'), kind: 'error', nodeIds: [], detail: 'away' },
      {
        at: new Date('2026-01-02T03:04:05.678Z'),
        kind: 'recall',
        nodeIds: ['a', 'quo"te, {b}'],
        detail: null,
      },
    ]);
    expect(await database.memoryEvents.newest(ann, 1)).toHaveLength(1);
  });

  it.each([
    { why: 'one by one', sizes: Array.from({ length: 60 }, () => 1) },
    { why: 'in batches', sizes: [20, 20, 20] },
    { why: 'a batch on a full table', sizes: [50, 10] },
    { why: 'a whole table at once', sizes: [10, 50] },
  ])('are forgotten beyond the newest 50: $why', async ({ sizes }) => {
    const [ann, bob] = [await newUser(), await newUser()];
    await append(errors(bob, 0, 3));
    let written = 0;
    for (const size of sizes) {
      await append(errors(ann, written, written + size));
      written += size;
    }
    expect(await detailsOf(ann)).toEqual(counted(60, 10));
    expect(await detailsOf(bob)).toEqual(['2', '1', '0']);
  });

  it('of many processes at once get in each other’s way nowhere', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, newUser));
    const mixed = (turn: number) =>
      users.flatMap((user) => errors(user, 0, 12)).toSorted(() => (turn % 2 === 0 ? 1 : -1));
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 6 }, (_, turn) => append(mixed(turn))));
    await append(users.flatMap((user) => errors(user, 0, 1)));
    for (const user of users) expect(await detailsOf(user)).toHaveLength(KEPT_MAX);
  });

  it('of a deleted user, or with a NUL, do not fail the others', async () => {
    const ann = await newUser();
    await append([error(newId(), 'nobody'), error(ann, 'a\0b'), error(ann, 'lone \ud800')]);
    expect(await detailsOf(ann)).toEqual(['lone \ufffd', 'ab']);
  });
});
