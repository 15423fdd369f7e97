-- What schema.prisma cannot say.

-- The sums of all dimensions by the hour, of users who had many requests on a past day. They are made from the rows after the day,
-- with the rests of the day, and are never updated.
CREATE TABLE "usage_sums_busy" (LIKE "usage_sums_model" INCLUDING DEFAULTS);
CREATE INDEX "usage_sums_busy_user_idx" ON "usage_sums_busy"("user_id", "since");
ALTER TABLE "usage_sums" ATTACH PARTITION "usage_sums_busy" FOR VALUES IN ('busy');
