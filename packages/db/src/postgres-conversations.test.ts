import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../tests/test-database.ts';

describe('conversations in Postgres', () => {
  let database: OpenedDatabase;
  let userId: string;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  beforeEach(async () => {
    userId = newId();
    await database.users.create({
      id: userId,
      email: `${userId}@example.com`,
      name: '',
      passwordHash: 'hash',
    });
  });

  const create = (title: string) => database.conversations.create({ id: newId(), userId, title });
  const say = (conversationId: string, content: string, more: Record<string, unknown> = {}) =>
    database.raw.query(
      `INSERT INTO messages (conversation_id, role, content, images, tool_calls, model, created_at)
       VALUES ($1, 'user', $2, $3, $4, $5, '2026-01-01T00:00:00Z')`,
      [
        conversationId,
        content,
        more['images'] === undefined ? null : JSON.stringify(more['images']),
        more['toolCalls'] === undefined ? null : JSON.stringify(more['toolCalls']),
        more['model'] ?? null,
      ],
    );

  it('are listed with their number of messages, the most recently used first', async () => {
    const old = await create('old');
    const recent = await create('recent');
    await say(old.id, 'one');
    await say(old.id, 'two');
    await database.raw.query(
      `UPDATE conversations SET updated_at = now() - interval '1 day' WHERE id = $1`,
      [old.id],
    );
    expect(await database.conversations.list(userId, 10)).toEqual([
      recent,
      { ...old, messageCount: 2, updatedAt: expect.any(Date) },
    ]);
    expect(await database.conversations.list(userId, 1)).toEqual([recent]);
    expect(await database.conversations.list(newId(), 10)).toEqual([]);
  });

  it('have their messages in the order in which they were said, the newest if they are too many', async () => {
    const { id } = await create('talk');
    await say(id, 'one', { images: ['data:image/png;base64,AA=='], model: 'demo-chat' });
    await say(id, 'two', { toolCalls: [{ id: 'call' }] });
    await say(id, 'three');
    const found = await database.conversations.find(userId, id, 10);
    expect(found?.conversation).toMatchObject({ id, title: 'talk', messageCount: 3 });
    const common = { id: expect.any(String), role: 'user', createdAt: expect.any(Date) };
    expect(found?.messages).toEqual([
      { ...common, content: 'one', images: ['data:image/png;base64,AA=='], model: 'demo-chat' },
      { ...common, content: 'two', toolCalls: [{ id: 'call' }] },
      { ...common, content: 'three' },
    ]);
    const newest = await database.conversations.find(userId, id, 2);
    expect(newest?.messages.map(({ content }) => content)).toEqual(['two', 'three']);
    expect(newest?.conversation.messageCount).toBe(3);
  });

  it('are not there for anybody else', async () => {
    const { id } = await create('mine');
    expect(await database.conversations.find(newId(), id, 10)).toBeUndefined();
    expect(await database.conversations.remove(newId(), id)).toBe(false);
    expect(await database.conversations.remove(userId, id)).toBe(true);
    expect(await database.conversations.remove(userId, id)).toBe(false);
    expect(await database.conversations.find(userId, id, 10)).toBeUndefined();
  });
});
