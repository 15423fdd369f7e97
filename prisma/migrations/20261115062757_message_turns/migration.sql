-- DropIndex
DROP INDEX "messages_conversation_id_position_idx";

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "extra" JSONB,
ADD COLUMN     "turn" BIGSERIAL NOT NULL;

-- By hand: what was said before stays in its order, each message a turn of its own.
UPDATE "messages" SET "turn" = "position";
SELECT setval('messages_turn_seq', (SELECT coalesce(max("position"), 0) + 1 FROM "messages"), false);

-- CreateIndex
CREATE INDEX "messages_conversation_id_turn_position_idx" ON "messages"("conversation_id", "turn", "position");
