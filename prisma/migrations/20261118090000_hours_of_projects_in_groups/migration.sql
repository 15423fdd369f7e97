-- What schema.prisma cannot say.

-- The sums of the projects of a group by the hour, of groups that had many lines of accounts on a past day. They are made from these
-- lines after the day, with the rests of the day, and are never updated.
CREATE TABLE "usage_sums_group_project" (LIKE "usage_sums_model" INCLUDING DEFAULTS);
CREATE INDEX "usage_sums_group_project_group_idx" ON "usage_sums_group_project"("group_id", "since");
ALTER TABLE "usage_sums" ATTACH PARTITION "usage_sums_group_project" FOR VALUES IN ('group-project');
