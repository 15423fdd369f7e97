import type {
  ConversationMessage,
  ConversationPage,
  HistoryLimits,
  HistorySize,
  MessagePageQuery,
  NewMessage,
} from '@model-gateway/accounts';
import { CONVERSATION_TITLE_DEFAULT } from '@model-gateway/contracts';
import { tryParseExactJson, tryParseJson, WrittenNumber } from '@model-gateway/kernel';
import { z } from 'zod';
import type { Queries } from '../connection/connection.ts';
import type { Message as StoredMessage } from '../generated/client.ts';

const MODEL_CHARS_MAX = 128;
/** In UTF-8. */
const BYTES_PER_CHAR_MAX = 4;

const listSchema = z.array(z.unknown()).nullable().catch(null);
const extraSchema = z.record(z.string(), z.unknown()).nullable().catch(null);
const imagePartSchema = z.object({
  type: z.literal('image_url'),
  image_url: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]),
});

/** Adds messages as one turn; the lock on the conversation orders concurrent turns. */
export async function insertTurn(
  queries: Queries,
  conversationId: string,
  messages: readonly NewMessage[],
  title: string | undefined,
): Promise<string | undefined> {
  const column = <Value>(pick: (message: NewMessage) => Value): Value[] => messages.map(pick);
  const rows = await queries.$queryRaw<{ readonly turn: bigint }[]>`
    WITH touched AS (
      UPDATE conversations
      SET
        updated_at = clock_timestamp(),
        title = CASE title
          WHEN ${CONVERSATION_TITLE_DEFAULT} THEN coalesce(${title ?? null}::text, title)
          ELSE title
        END
      WHERE id = ${conversationId}::uuid
      RETURNING id
    ), numbered AS MATERIALIZED (
      SELECT id, nextval('messages_turn_seq') AS turn FROM touched
    )
    INSERT INTO messages (conversation_id, turn, role, content, images, tool_calls, model, extra, created_at)
    SELECT numbered.id, numbered.turn, said.role, said.content,
      said.images::jsonb, said.tool_calls::jsonb, said.model, said.extra::jsonb, clock_timestamp()
    FROM numbered, unnest(
      ${column(({ role }) => role)}::text[],
      ${column(({ content }) => clean(content))}::text[],
      ${column(({ images }) => jsonText(images))}::text[],
      ${column(({ toolCalls }) => jsonText(toolCalls))}::text[],
      ${column(({ model }) => modelText(model))}::text[],
      ${column(({ extra }) => jsonText(extra))}::text[]
    ) WITH ORDINALITY AS said (role, content, images, tool_calls, model, extra, place)
    ORDER BY said.place
    RETURNING turn`;
  return rows[0]?.turn.toString();
}

/** Adds a message to an existing turn. */
export async function insertIntoTurn(
  queries: Queries,
  conversationId: string,
  turn: string,
  { role, content, images, toolCalls, model, extra }: NewMessage,
): Promise<string | undefined> {
  const rows = await queries.$queryRaw<{ readonly id: string }[]>`
    WITH touched AS (
      UPDATE conversations SET updated_at = clock_timestamp() WHERE id = ${conversationId}::uuid RETURNING id
    )
    INSERT INTO messages (conversation_id, turn, role, content, images, tool_calls, model, extra, created_at)
    SELECT id, ${turn}::bigint, ${role}, ${clean(content)}, ${jsonText(images)}::jsonb,
      ${jsonText(toolCalls)}::jsonb, ${modelText(model)}, ${jsonText(extra)}::jsonb, clock_timestamp()
    FROM touched
    RETURNING id`;
  return rows[0]?.id;
}

/** The newest messages within the limits, without their texts. */
export async function measureHistory(
  queries: Queries,
  conversationId: string,
  { messagesMax, bytesMax }: HistoryLimits,
): Promise<HistorySize> {
  const [size] = await queries.$queryRaw<HistorySize[]>`
    SELECT coalesce(array_agg(id), '{}') AS "messageIds", coalesce(max(total), 0)::int AS bytes
    FROM (
      SELECT id, sum(bytes) OVER (ORDER BY turn DESC, position DESC) AS total
      FROM (
        SELECT id, turn, position, bytes FROM messages
        WHERE conversation_id = ${conversationId}::uuid
        ORDER BY turn DESC, position DESC
        LIMIT ${messagesMax}
      ) AS latest
    ) AS newest
    WHERE total <= ${bytesMax}`;
  return size ?? { messageIds: [], bytes: 0 };
}

/** These messages, oldest first. */
export async function readHistory(
  queries: Queries,
  conversationId: string,
  messageIds: readonly string[],
): Promise<readonly NewMessage[]> {
  const rows = await queries.$queryRaw<
    Pick<MessageRow, 'role' | 'content' | 'model' | JsonField>[]
  >`
    SELECT role, content, images::text, tool_calls::text AS "toolCalls", model, extra::text
    FROM messages
    WHERE conversation_id = ${conversationId}::uuid AND id = ANY(${messageIds}::uuid[])
    ORDER BY turn, position`;
  return rows.map(({ role, content, images, toolCalls, model, extra }) => {
    const others = extraOf(extra);
    return {
      role,
      content,
      ...listsOf(listOf(images), listOf(toolCalls)),
      ...(model === null ? {} : { model }),
      ...(others === null ? {} : { extra: others }),
    };
  });
}

/** The newest messages, or those before one of them, oldest first; at least one if there is any. */
export async function readPage(
  queries: Queries,
  conversationId: string,
  { before, messagesMax, bytesMax, messageBytesMax }: MessagePageQuery,
): Promise<Pick<ConversationPage, 'messages' | 'hasMore'>> {
  const nextId = before ?? null;
  const rows = await queries.$queryRaw<PageRow[]>`
    WITH latest AS (
      SELECT id, turn, position, bytes, bytes > ${messageBytesMax} AS is_truncated
      FROM messages
      WHERE conversation_id = ${conversationId}::uuid AND (
        ${nextId}::uuid IS NULL
        OR (turn, position) < (
          SELECT turn, position FROM messages
          WHERE id = ${nextId}::uuid AND conversation_id = ${conversationId}::uuid
        )
      )
      ORDER BY turn DESC, position DESC
      LIMIT ${messagesMax + 1}
    ), numbered AS (
      SELECT id, turn, position, is_truncated,
        row_number() OVER newest_first AS place,
        sum(bytes) OVER newest_first AS bytes,
        count(*) OVER () AS found
      FROM latest
      WINDOW newest_first AS (ORDER BY turn DESC, position DESC)
    ), page AS (
      SELECT * FROM numbered WHERE place <= ${messagesMax} AND (place = 1 OR bytes <= ${bytesMax})
    )
    SELECT m.id, m.role, m.model, m.created_at AS "createdAt", page.is_truncated AS "isTruncated",
      CASE WHEN is_truncated THEN left(m.content, ${messageBytesMax / BYTES_PER_CHAR_MAX}) ELSE m.content END AS content,
      CASE WHEN NOT is_truncated THEN m.images::text END AS images,
      CASE WHEN NOT is_truncated THEN m.tool_calls::text END AS "toolCalls",
      CASE WHEN NOT is_truncated THEN m.extra::text END AS extra,
      page.found > (SELECT count(*) FROM page) AS "hasMore"
    FROM page JOIN messages m USING (id)
    ORDER BY page.turn, page.position`;
  return { messages: rows.map(toMessage), hasMore: rows[0]?.hasMore ?? false };
}

type JsonField = 'images' | 'toolCalls' | 'extra';

/** A row with its JSON as texts, so that numbers keep their digits. */
type MessageRow = Omit<StoredMessage, JsonField> & Readonly<Record<JsonField, string | null>>;

interface PageRow extends MessageRow {
  readonly isTruncated: boolean;
  readonly hasMore: boolean;
}

/** A message as users see it. */
function toMessage(row: PageRow): ConversationMessage {
  const images = listOf(row.images) ?? imageParts(extraOf(row.extra));
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    ...listsOf(images, listOf(row.toolCalls)),
    ...(row.model === null ? {} : { model: row.model }),
    createdAt: row.createdAt,
    ...(row.isTruncated ? { isTruncated: true } : {}),
  };
}

const listsOf = (
  images: readonly unknown[] | null,
  toolCalls: readonly unknown[] | null,
): Pick<NewMessage, 'images' | 'toolCalls'> => ({
  ...(images === null ? {} : { images }),
  ...(toolCalls === null ? {} : { toolCalls }),
});

/** The database writes powers of ten in full, so that a text can have more long numbers than it was given. */
const parsed = (text: string | null): unknown => tryParseExactJson(text) ?? tryParseJson(text);

const listOf = (text: string | null): readonly unknown[] | null => listSchema.parse(parsed(text));
const extraOf = (text: string | null): Readonly<Record<string, unknown>> | null =>
  extraSchema.parse(parsed(text));

/** The images among the content parts of a message; they are stored once, with the parts. */
function imageParts(extra: Readonly<Record<string, unknown>> | null): readonly string[] | null {
  const parts = listSchema.parse(extra?.['content'] ?? null) ?? [];
  const images = parts.flatMap((part) => {
    const image = imagePartSchema.safeParse(part);
    return image.success ? [image.data.image_url] : [];
  });
  return images.length === 0 ? null : images;
}

// Postgres rejects a whole turn for one NUL character or unpaired surrogate.
const clean = (text: string): string =>
  text.replaceAll('\u0000', '').replaceAll(/\p{Surrogate}/gu, '\uFFFD');

const modelText = (model: string | undefined): string | null =>
  model === undefined ? null : clean(model).slice(0, MODEL_CHARS_MAX);

const jsonText = (value: unknown): string | null =>
  value === undefined
    ? null
    : JSON.stringify(value, function storable(this: unknown, name, inner: unknown) {
        if (typeof inner === 'string') return clean(inner);
        const given: unknown = Reflect.get(Object(this), name);
        return given instanceof WrittenNumber && !isStorableNumber(given.toString())
          ? given.valueOf()
          : inner;
      });

const NUMBER_CHARS_MAX = 1_000;
const EXPONENT_MAX = 308;

/** Whether the database keeps the digits of a number. It writes powers of ten in full, and refuses very large ones. */
function isStorableNumber(text: string): boolean {
  const exponent = /[eE](.+)$/.exec(text)?.[1] ?? '0';
  return text.length <= NUMBER_CHARS_MAX && Math.abs(Number(exponent)) <= EXPONENT_MAX;
}
