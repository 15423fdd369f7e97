-- What schema.prisma cannot say.

-- The sums of accounts from an hour of a past day to the end of the day, so that a part of a day is read from few lines. They are
-- made from the lines of the hours after the day, by the recorder's process, and are never updated. Attached, because this keeps
-- neither readers nor writers of the other lines out.
CREATE TABLE "usage_sums_account_rest" (LIKE "usage_sums_account_hour" INCLUDING DEFAULTS);
ALTER TABLE "usage_sums_account" ATTACH PARTITION "usage_sums_account_rest" FOR VALUES IN ('rest');
