import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const GIBIBYTE = 1024 ** 3;

describe('stored responses in Postgres', () => {
  let database: OpenedDatabase;
  let ann: string;
  let bob: string;
  const now = new Date('2026-01-10T00:00:00Z');
  const sizes = { inputItems: 1, outputItems: 2, largestInputBytes: 8, largestOutputBytes: 3 };

  beforeAll(async () => {
    database = await openTestDatabase();
    [ann, bob] = [await newUser(), await newUser()];
  });
  afterAll(() => database.close());

  async function newUser(): Promise<string> {
    const id = newId();
    await database.users.create({
      id,
      email: `${id}@example.com`,
      name: '',
      passwordHash: 'hash',
    });
    return id;
  }

  async function save(
    id: string,
    previousId: string | null,
    expiresAt = '2026-02-01T00:00:00Z',
    { userId = ann, createdAt = now, input = '["\\u0000"]', storedBytesMax = GIBIBYTE } = {},
  ) {
    const response = `{"id":"ä ${id}"}`;
    const dates = { createdAt, expiresAt: new Date(expiresAt) };
    const saved = { id, userId, previousId, ...dates, input, response, ...sizes };
    return database.responses.save(saved, storedBytesMax);
  }
  const chain = (id: string, userId = ann, responsesMax = 10) =>
    database.responses.chain(userId, id, now, responsesMax);
  const idsOf = async (id: string, responsesMax = 10) => {
    const found = await chain(id, ann, responsesMax);
    return { ids: found?.responses.map((one) => one.id), missing: found?.missing };
  };

  it('are not kept of a user who was erased, also at that moment', async () => {
    const userId = await newUser();
    const saving = Array.from({ length: 10 }, (_, index) =>
      save(`resp_erased_${index}`, null, undefined, { userId, createdAt: now }),
    );
    const { userDirectory } = database;
    const erasing = userDirectory
      .erase(userId, undefined, new Date())
      .then(() => userDirectory.eraseContent(userId));
    await Promise.all([...saving, erasing]);
    await save('resp_late', null, undefined, { userId, createdAt: now });
    const left = 'SELECT id FROM stored_responses WHERE user_id = $1';
    expect(await database.raw.query(left, [userId])).toEqual([]);
  });

  it('come back as they were to their user alone, until they expire', async () => {
    await save('resp_a', null);
    await save('resp_old', null, '2026-01-09T00:00:00Z');
    const found = {
      id: 'resp_a',
      previousId: null,
      input: '["\\u0000"]',
      response: '{"id":"ä resp_a"}',
    };
    // In UTF-8, without reading the texts.
    const size = { id: 'resp_a', previousId: null, bytes: 10 + 18, ...sizes };
    expect(await database.responses.sizes(ann, ['resp_a', 'resp_old', 'x'], now)).toEqual([size]);
    expect(await database.responses.sizes(bob, ['resp_a'], now)).toEqual([]);
    expect(await database.responses.find(ann, ['resp_a', 'resp_old', 'x'], now)).toEqual([found]);
    expect(await database.responses.find(bob, ['resp_a'], now)).toEqual([]);
    expect(await chain('resp_a')).toEqual({ responses: [size], missing: 'nothing' });
    expect(await chain('resp_a', bob)).toBeUndefined();
    expect(await chain('resp_old')).toBeUndefined();
    expect(await database.responses.remove(bob, 'resp_a', now)).toBe(false);
    expect(await database.responses.remove(ann, 'resp_old', now)).toBe(false);
  });

  it('are found with those that they continue, up to a number', async () => {
    await save('resp_1', null);
    await save('resp_2', 'resp_1');
    await save('resp_3', 'resp_2');
    expect(await idsOf('resp_3')).toEqual({
      ids: ['resp_1', 'resp_2', 'resp_3'],
      missing: 'nothing',
    });
    expect(await idsOf('resp_3', 2)).toEqual({ ids: ['resp_2', 'resp_3'], missing: 'too-long' });
    expect(await database.responses.remove(ann, 'resp_1', now)).toBe(true);
    expect(await idsOf('resp_3')).toEqual({ ids: ['resp_2', 'resp_3'], missing: 'deleted' });
  });

  it('are as many as a user may have: the oldest are deleted', async () => {
    const ids = ['resp_c1', 'resp_c2', 'resp_c3', 'resp_c4'];
    for (const [minute, id] of ids.entries()) {
      const createdAt = new Date(now.getTime() + minute * 60_000);
      await save(id, null, undefined, { userId: bob, createdAt });
    }
    const left = async () =>
      (await database.responses.find(bob, ids, now)).map(({ id }) => id).toSorted();
    await database.responses.removeOldest(bob, 4, 10);
    expect(await left()).toEqual(ids);
    await database.responses.removeOldest(bob, 2, 10);
    expect(await left()).toEqual(['resp_c3', 'resp_c4']);
    expect(await chain('resp_3')).toBeDefined();
  });

  it('are as many bytes as a user may have, conversations included: the oldest are deleted', async () => {
    const userId = await newUser();
    const { conversations, responses } = database;
    const { id: conversationId } = await conversations.create({ id: newId(), userId, title: '' });
    await conversations.addTurn(conversationId, [{ role: 'user', content: 'x'.repeat(3_000) }]);
    const stored = async () => (await conversations.ownerOf(conversationId))?.storedBytes;
    const saveAt = (minute: number, storedBytesMax = 10_000) =>
      save(`resp_b${minute}`, null, undefined, {
        userId,
        createdAt: new Date(now.getTime() + minute * 60_000),
        input: 'y'.repeat(1_981),
        storedBytesMax,
      });
    const ids = [1, 2, 3, 4, 5, 6].map((minute) => `resp_b${minute}`);
    for (const minute of [1, 2, 3, 4, 5]) expect(await saveAt(minute)).toBe(true);
    expect(await stored()).toEqual({ conversations: 3_000, responses: 10_000 });
    const left = async () =>
      (await responses.find(userId, ids, now)).map(({ id }) => id).toSorted();
    await responses.removeBeyond(userId, 13_000);
    expect(await left()).toHaveLength(5);
    await Promise.all([
      responses.removeBeyond(userId, 10_000),
      responses.removeBeyond(userId, 10_000),
    ]);
    expect(await left()).toEqual(['resp_b3', 'resp_b4', 'resp_b5']);
    expect(await stored()).toEqual({ conversations: 3_000, responses: 6_000 });
    // Not even beside the conversations alone.
    expect(await saveAt(6, 4_999)).toBe(false);
    expect(await saveAt(6, 5_000)).toBe(true);
    expect(await responses.remove(userId, 'resp_b6', now)).toBe(true);
    await responses.removeOldest(userId, 1, 10);
    expect(await stored()).toEqual({ conversations: 3_000, responses: 2_000 });
    await database.userDirectory.erase(userId, undefined, new Date());
    await database.userDirectory.eraseContent(userId);
    const rest = 'SELECT conversations + responses AS bytes FROM stored_bytes WHERE user_id = $1';
    expect(await database.raw.query(rest, [userId])).toEqual([{ bytes: '0' }]);
  });

  it('are deleted some time after they expired, a few at a time', async () => {
    await save('resp_x', null, '2026-01-01T00:00:00Z');
    await save('resp_y', null, '2026-01-02T00:00:00Z');
    await database.responses.removeExpired(new Date('2026-01-05T00:00:00Z'), 1);
    const early = new Date('2025-01-01T00:00:00Z');
    const left = await database.responses.find(ann, ['resp_x', 'resp_y', 'resp_old'], early);
    expect(left.map(({ id }) => id).toSorted()).toEqual(['resp_old', 'resp_y']);
  });
});
