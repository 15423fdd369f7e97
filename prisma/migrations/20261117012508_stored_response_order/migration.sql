-- DropIndex
DROP INDEX "stored_responses_user_id_idx";

-- CreateIndex
CREATE INDEX "stored_responses_user_id_created_at_idx" ON "stored_responses"("user_id", "created_at");
