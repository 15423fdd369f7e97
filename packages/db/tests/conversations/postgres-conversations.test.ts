import { newId, tryParseExactJson } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const pageOf = (messagesMax: number) => ({
  messagesMax,
  bytesMax: 1024 * 1024,
  messageBytesMax: 1024 * 1024,
});

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

  const history = async (id: string, limits = NO_LIMITS) => {
    const { messageIds } = await database.conversations.historySize(id, limits);
    return database.conversations.history(id, messageIds);
  };

  it('are listed with their number of messages, the most recently used first', async () => {
    const old = await create('old');
    const recent = await create('recent');
    await say(old.id, 'one');
    await say(old.id, 'two');
    await database.raw.query(
      `UPDATE conversations SET updated_at = now() - interval '1 day' WHERE id = $1`,
      [old.id],
    );
    expect(await database.conversations.list(userId, { countMax: 10 })).toEqual([
      recent,
      { ...old, messageCount: 2, updatedAt: expect.any(Date) },
    ]);
    expect(await database.conversations.list(userId, { countMax: 1 })).toEqual([recent]);
    expect(await database.conversations.list(newId(), { countMax: 10 })).toEqual([]);
  });

  it('have their messages in the order in which they were said, the newest if they are too many', async () => {
    const { id } = await create('talk');
    await say(id, 'one', { images: ['data:image/png;base64,AA=='], model: 'demo-chat' });
    await say(id, 'two', { toolCalls: [{ id: 'call' }] });
    await say(id, 'three');
    const found = await database.conversations.find(userId, id, pageOf(10));
    expect(found?.conversation).toMatchObject({ id, title: 'talk', messageCount: 3 });
    const common = { id: expect.any(String), role: 'user', createdAt: expect.any(Date) };
    expect(found?.messages).toEqual([
      { ...common, content: 'one', images: ['data:image/png;base64,AA=='], model: 'demo-chat' },
      { ...common, content: 'two', toolCalls: [{ id: 'call' }] },
      { ...common, content: 'three' },
    ]);
    const newest = await database.conversations.find(userId, id, pageOf(2));
    expect(newest?.messages.map(({ content }) => content)).toEqual(['two', 'three']);
    expect(newest?.conversation.messageCount).toBe(3);
  });

  it('are not visible to other users', async () => {
    const { id } = await create('mine');
    expect(await database.conversations.find(newId(), id, pageOf(10))).toBeUndefined();
    expect(await database.conversations.remove(newId(), id)).toBe(false);
    expect(await database.conversations.remove(userId, id)).toBe(true);
    expect(await database.conversations.remove(userId, id)).toBe(false);
    expect(await database.conversations.find(userId, id, pageOf(10))).toBeUndefined();
  });

  const NO_LIMITS = { messagesMax: 100, bytesMax: 1_000_000 };
  const said = async (id: string): Promise<readonly string[]> =>
    (await database.conversations.find(userId, id, pageOf(100)))?.messages.map(
      ({ content }) => content,
    ) ?? [];

  it('keep a reply right after what it answers, whatever came in between', async () => {
    const { id } = await create('talk');
    const { conversations } = database;
    const first = await conversations.addTurn(id, [{ role: 'user', content: 'one' }]);
    const second = await conversations.addTurn(id, [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'two' },
    ]);
    const reply = { role: 'assistant', model: 'demo-chat' };
    await conversations.addToTurn(id, second ?? '', { ...reply, content: 'to two' });
    const replyId = await conversations.addToTurn(id, first ?? '', { ...reply, content: 'to one' });
    expect(await said(id)).toEqual(['one', 'to one', 'be brief', 'two', 'to two']);
    const found = await database.conversations.find(userId, id, pageOf(100));
    expect(found?.messages[1]).toMatchObject({ id: replyId, ...reply, content: 'to one' });
  });

  it('keep turns that come at once apart', async () => {
    const { id } = await create('talk');
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const turn = await database.conversations.addTurn(id, [
          { role: 'user', content: `${index} a` },
          { role: 'user', content: `${index} b` },
        ]);
        await database.conversations.addToTurn(id, turn ?? '', {
          role: 'assistant',
          content: `${index} c`,
        });
      }),
    );
    const all = await said(id);
    expect(all).toHaveLength(60);
    for (let at = 0; at < all.length; at += 3) {
      const turn = all[at]?.split(' ')[0];
      expect(all.slice(at, at + 3)).toEqual([`${turn} a`, `${turn} b`, `${turn} c`]);
    }
  });

  it('take a title from their first words unless they were given one, and move up in the list', async () => {
    const plain = await create('New Conversation');
    const chosen = await create('chosen');
    const { conversations } = database;
    const words = [{ role: 'user', content: 'words' }];
    await conversations.addTurn(plain.id, words);
    await conversations.addTurn(plain.id, words, 'first words');
    await conversations.addTurn(plain.id, words, 'later words');
    await conversations.addTurn(chosen.id, words, 'first words');
    const listed = await database.conversations.list(userId, { countMax: 10 });
    expect(listed.map(({ title }) => title)).toEqual(['chosen', 'first words']);
    expect(listed[1]?.updatedAt.getTime()).toBeGreaterThan(plain.updatedAt.getTime());
  });

  it('give a model what was said as it was said, images, calls and all the rest', async () => {
    const { id } = await create('talk');
    const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
    const messages = [
      { role: 'user', content: 'see', images: ['AA=='] },
      { role: 'assistant', content: '', toolCalls: [{ id: 'call' }], model: 'demo-chat' },
      { role: 'tool', content: 'done', extra: { tool_call_id: 'call' } },
      { role: 'user', content: 'and', extra: { content: [{ type: 'text', text: 'and' }, image] } },
    ];
    await database.conversations.addTurn(id, messages);
    expect(await history(id)).toEqual(messages);
    const found = await database.conversations.find(userId, id, pageOf(10));
    expect(found?.messages.map(({ images }) => images)).toEqual([
      ['AA=='],
      undefined,
      undefined,
      ['https://example.com/cat.png'],
    ]);
    expect(found?.messages[2]).not.toHaveProperty('extra');
  });

  it('keep the digits of numbers, and refuse no number', async () => {
    const { id } = await create('talk');
    const digits = '1234567890123456789012345678901234567890';
    const numbers = `[${digits},0.${digits},-${digits},1.0,0.10,9223372036854775807]`;
    const read = (text: string) => tryParseExactJson(text) as readonly unknown[];
    const others = `[1e3,-0,1e400000,1e-400000,1${'0'.repeat(200_000)},1.5e-7]`;
    await database.conversations.addTurn(id, [
      { role: 'user', content: '', toolCalls: read(numbers), extra: { of: read(numbers) } },
      { role: 'user', content: '', extra: { of: read(others) } },
    ]);
    const [first, second] = await history(id);
    expect(JSON.stringify(first?.toolCalls)).toBe(numbers);
    expect(JSON.stringify(first?.extra)).toBe(`{"of":${numbers}}`);
    // The database writes these in its own form; what no double holds is null.
    expect(JSON.stringify(second?.extra)).toBe('{"of":[1000,0,null,0,null,0.00000015]}');
    const found = await database.conversations.find(userId, id, pageOf(10));
    expect(JSON.stringify(found?.messages[0]?.toolCalls)).toBe(numbers);
  });

  it('give a model the newest, as far as both limits allow', async () => {
    const { id } = await create('talk');
    for (const content of ['one', 'two', 'x'.repeat(1_000), 'four'])
      await database.conversations.addTurn(id, [{ role: 'user', content }]);
    const contents = async (messagesMax: number, bytesMax: number) =>
      (await history(id, { messagesMax, bytesMax })).map(({ content }) => content.length);
    expect(await contents(10, 10_000)).toEqual([3, 3, 1_000, 4]);
    expect(await contents(2, 10_000)).toEqual([1_000, 4]);
    expect(await contents(10, 100)).toEqual([4]);
    expect(await history(newId())).toEqual([]);
    const { messageIds } = await database.conversations.historySize(id, NO_LIMITS);
    expect(await database.conversations.history(newId(), messageIds)).toEqual([]);
  });

  it('are measured as they are read, and not as the database compresses them', async () => {
    const { id } = await create('talk');
    const numbers = Array.from({ length: 100 }, () => 1e300);
    const messages = [
      { role: 'user', content: 'é'.repeat(500_000) },
      { role: 'user', content: '', images: ['A'.repeat(500_000)] },
      // As JSON of the database each number has 301 digits.
      { role: 'user', content: '', extra: { numbers }, toolCalls: numbers },
    ];
    await database.conversations.addTurn(id, messages);
    const { bytes, messageIds } = await database.conversations.historySize(id, {
      ...NO_LIMITS,
      bytesMax: 10_000_000,
    });
    expect(messageIds).toHaveLength(3);
    expect(bytes).toBeGreaterThan(1_000_000 + 500_000 + 2 * 100 * 301);
    expect(bytes).toBeLessThan(1_000_000 + 500_000 + 2 * 100 * 301 + 2_000);
    const few = await database.conversations.historySize(id, { ...NO_LIMITS, bytesMax: 600_000 });
    expect(few.messageIds).toEqual(messageIds.slice(0, 2));
  });

  it('count the bytes of their user, also under concurrent changes and when they are deleted', async () => {
    const counted = async () => {
      const [row] = await database.raw.query<{ bytes: string; expected: string }>(
        `SELECT (SELECT conversations FROM stored_bytes WHERE user_id = $1) AS bytes,
          (SELECT coalesce(sum(m.bytes), 0) FROM messages m JOIN conversations c ON c.id = m.conversation_id
            WHERE c.user_id = $1) AS expected`,
        [userId],
      );
      return row;
    };
    const kept = await create('kept');
    const deleted = await Promise.all(Array.from({ length: 5 }, () => create('deleted')));
    await Promise.all(
      [kept, ...deleted].flatMap(({ id }) =>
        Array.from({ length: 10 }, async () => {
          const turn = await database.conversations.addTurn(id, [
            { role: 'user', content: 'x'.repeat(1_000) },
          ]);
          if (id !== kept.id) await database.conversations.remove(userId, id);
          const reply = { role: 'assistant', content: 'y'.repeat(500) };
          await database.conversations.addToTurn(id, turn ?? '0', reply);
        }),
      ),
    );
    expect(await counted()).toEqual({ bytes: '15000', expected: '15000' });
    const owner = await database.conversations.ownerOf(kept.id);
    expect(owner).toEqual({ userId, storedBytes: { conversations: 15_000, responses: 0 } });
    await database.conversations.remove(userId, kept.id);
    expect(await counted()).toEqual({ bytes: '0', expected: '0' });
  });

  it('show the beginning of a message that is larger than a page without reading the rest', async () => {
    const { id } = await create('talk');
    const images = ['A'.repeat(2_000_000)];
    await database.conversations.addTurn(id, [{ role: 'user', content: 'look', images }]);
    await database.conversations.addTurn(id, [{ role: 'user', content: '👋'.repeat(1_000_000) }]);
    const older = await database.conversations.find(userId, id, pageOf(10));
    expect(older?.messages).toMatchObject([{ isTruncated: true, content: '👋'.repeat(262_144) }]);
    const before = older?.messages[0]?.id;
    const first = await database.conversations.find(userId, id, { ...pageOf(10), before });
    expect(first?.messages).toMatchObject([{ isTruncated: true, content: 'look' }]);
    expect(first?.messages[0]).not.toHaveProperty('images');
  });

  it('keep what the database cannot hold without the characters that it refuses', async () => {
    const { id } = await create('talk');
    const odd = 'a\u0000b \ud800 👋';
    await database.conversations.addTurn(id, [
      { role: 'user', content: odd, images: [odd], extra: { name: odd }, model: odd.repeat(50) },
    ]);
    const kept = 'ab \ufffd 👋';
    expect(await history(id)).toEqual([
      {
        role: 'user',
        content: kept,
        images: [kept],
        extra: { name: kept },
        model: expect.stringMatching(/^ab /),
      },
    ]);
  });

  it('accept nothing once they are deleted', async () => {
    const { id } = await create('talk');
    const message = { role: 'user', content: 'late' };
    const turn = await database.conversations.addTurn(id, [message]);
    await database.conversations.remove(userId, id);
    expect(await database.conversations.addTurn(id, [message])).toBeUndefined();
    expect(await database.conversations.addToTurn(id, turn ?? '', message)).toBeUndefined();
  });
});
