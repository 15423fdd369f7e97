-- Requests are listed by key, group and upstream. Most rows of a service without groups or keys need no entry.

-- CreateIndex
CREATE INDEX "usage_records_upstream_created_at_idx" ON "usage_records"("upstream", "created_at");

-- What schema.prisma cannot say: where the column is null, there is nothing to find.
CREATE INDEX "usage_records_key_id_created_at_idx" ON "usage_records"("key_id", "created_at") WHERE "key_id" IS NOT NULL;
CREATE INDEX "usage_records_group_id_created_at_idx" ON "usage_records"("group_id", "created_at") WHERE "group_id" IS NOT NULL;
