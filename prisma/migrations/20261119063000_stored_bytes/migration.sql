-- AlterTable
ALTER TABLE "conversations" ADD COLUMN     "bytes" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "stored_bytes" (
    "user_id" UUID NOT NULL,
    "conversations" BIGINT NOT NULL DEFAULT 0,
    "responses" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "stored_bytes_pkey" PRIMARY KEY ("user_id")
);

-- AddForeignKey
ALTER TABLE "stored_bytes" ADD CONSTRAINT "stored_bytes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on: what schema.prisma cannot say.

-- The size of a message as it is read, uncompressed, so that it is known without reading the message.
ALTER TABLE "messages" ADD COLUMN "bytes" INTEGER NOT NULL GENERATED ALWAYS AS (
    octet_length("content") + coalesce(octet_length("images"::text), 0)
    + coalesce(octet_length("tool_calls"::text), 0) + coalesce(octet_length("extra"::text), 0)
) STORED;

UPDATE "conversations" SET "bytes" = sizes.bytes
FROM (SELECT "conversation_id", sum("bytes") AS bytes FROM "messages" GROUP BY "conversation_id") AS sizes
WHERE "id" = sizes."conversation_id";

INSERT INTO "stored_bytes" ("user_id", "conversations", "responses")
SELECT "user_id", sum(conversations), sum(responses)
FROM (
    SELECT "user_id", "bytes" AS conversations, 0 AS responses FROM "conversations"
    UNION ALL
    SELECT "user_id", 0, "bytes" FROM "stored_responses"
) AS stored
GROUP BY "user_id";

-- Messages are deleted with their conversations only.
CREATE FUNCTION "messages_count_bytes"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    WITH grown AS (
        UPDATE "conversations" SET "bytes" = "conversations"."bytes" + sizes.bytes
        FROM (SELECT "conversation_id", sum("bytes") AS bytes FROM added GROUP BY "conversation_id") AS sizes
        WHERE "id" = sizes."conversation_id"
        RETURNING "user_id", sizes.bytes
    )
    INSERT INTO "stored_bytes" ("user_id", "conversations")
    SELECT "user_id", sum(bytes) FROM grown GROUP BY "user_id"
    ON CONFLICT ("user_id") DO UPDATE
    SET "conversations" = "stored_bytes"."conversations" + EXCLUDED."conversations";
    RETURN NULL;
END
$$;

CREATE TRIGGER "messages_bytes_counted"
AFTER INSERT ON "messages"
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION "messages_count_bytes"();

CREATE FUNCTION "conversations_release_bytes"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE "stored_bytes" SET "conversations" = "conversations" - sizes.bytes
    FROM (SELECT "user_id", sum("bytes") AS bytes FROM removed GROUP BY "user_id") AS sizes
    WHERE "stored_bytes"."user_id" = sizes."user_id";
    RETURN NULL;
END
$$;

CREATE TRIGGER "conversations_bytes_released"
AFTER DELETE ON "conversations"
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION "conversations_release_bytes"();

CREATE FUNCTION "stored_responses_count_bytes"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO "stored_bytes" ("user_id", "responses")
    SELECT "user_id", sum("bytes") FROM added GROUP BY "user_id"
    ON CONFLICT ("user_id") DO UPDATE
    SET "responses" = "stored_bytes"."responses" + EXCLUDED."responses";
    RETURN NULL;
END
$$;

CREATE TRIGGER "stored_responses_bytes_counted"
AFTER INSERT ON "stored_responses"
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION "stored_responses_count_bytes"();

CREATE FUNCTION "stored_responses_release_bytes"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    -- Expired responses of several users are deleted together: the order avoids deadlocks.
    PERFORM 1 FROM "stored_bytes" WHERE "user_id" IN (SELECT "user_id" FROM removed) ORDER BY "user_id" FOR UPDATE;
    UPDATE "stored_bytes" SET "responses" = "responses" - sizes.bytes
    FROM (
        SELECT "user_id", sum("bytes") AS bytes
        FROM removed GROUP BY "user_id"
    ) AS sizes
    WHERE "stored_bytes"."user_id" = sizes."user_id";
    RETURN NULL;
END
$$;

CREATE TRIGGER "stored_responses_bytes_released"
AFTER DELETE ON "stored_responses"
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION "stored_responses_release_bytes"();
