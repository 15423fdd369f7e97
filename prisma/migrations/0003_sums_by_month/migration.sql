-- The sums of accounts and of all dimensions are partitioned by month, so that old hours can be dropped.

-- Until this is committed, nobody settles usage or adds to sums.
SELECT pg_advisory_xact_lock(72707370);

DROP FUNCTION "usage_records_ensure_partition"(date);

-- Makes what is missing for a month: a partition of the rows, and of the sums that are partitioned. A recorder may do it without
-- the right to make tables.
CREATE FUNCTION "usage_ensure_partitions"("month" DATE) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    month_start CONSTANT TIMESTAMPTZ := date_trunc('month', "month"::TIMESTAMP) AT TIME ZONE 'UTC';
    month_end CONSTANT TIMESTAMPTZ := (date_trunc('month', "month"::TIMESTAMP) + INTERVAL '1 month') AT TIME ZONE 'UTC';
    parent_name TEXT;
    partition_name TEXT;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('usage_ensure_partitions', 0));
    FOREACH parent_name IN ARRAY ARRAY[
        'usage_records', 'usage_by_account_hour', 'usage_by_account_day', 'usage_by_all_hour', 'usage_by_all_day'
    ] LOOP
        partition_name := parent_name || '_' || to_char("month", 'YYYY_MM');
        -- Also one that was detached. Asked of the catalogue: a look-up of the name may answer from a cache that is older than the lock.
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_class c JOIN pg_class parent ON parent.relnamespace = c.relnamespace
            WHERE parent.oid = parent_name::REGCLASS AND c.relname = partition_name
        );
        -- A month that began in the default partition of the rows stays there.
        CONTINUE WHEN parent_name = 'usage_records' AND EXISTS (
            SELECT FROM "usage_records_default" WHERE "created_at" >= month_start AND "created_at" < month_end
        );
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition_name, parent_name);
        IF parent_name <> 'usage_records' THEN
            EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', partition_name);
        END IF;
        -- Unlike a partition that is created as one, it does not wait for those who read the table.
        EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent_name, partition_name, month_start, month_end
        );
    END LOOP;
END
$$;

-- Drops the partitions of a table before a month, and says how many.
CREATE FUNCTION "usage_drop_partitions"("parent" TEXT, "before" DATE) RETURNS INTEGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s'
AS $$
DECLARE
    partition_name TEXT;
    dropped INTEGER := 0;
BEGIN
    IF "parent" NOT LIKE 'usage\_by\_%\_hour' THEN
        RAISE EXCEPTION '% is not kept for a while only', "parent";
    END IF;
    FOR partition_name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = "parent"::REGCLASS AND c.relname < "parent" || '_' || to_char("before", 'YYYY_MM')
    LOOP
        EXECUTE format('DROP TABLE %I', partition_name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END
$$;

ALTER TABLE "usage_by_account_hour" RENAME TO "old_account_hour";
ALTER TABLE "usage_by_account_day" RENAME TO "old_account_day";
ALTER TABLE "usage_by_all_hour" RENAME TO "old_all_hour";
ALTER TABLE "usage_by_all_day" RENAME TO "old_all_day";

CREATE TABLE "usage_by_account_hour" (LIKE "old_account_hour") PARTITION BY RANGE ("since");
CREATE TABLE "usage_by_account_day" (LIKE "old_account_day") PARTITION BY RANGE ("since");
CREATE TABLE "usage_by_all_hour" (LIKE "old_all_hour") PARTITION BY RANGE ("since");
CREATE TABLE "usage_by_all_day" (LIKE "old_all_day") PARTITION BY RANGE ("since");

SELECT "usage_ensure_partitions"("month")
FROM (SELECT DISTINCT date_trunc('month', "since" AT TIME ZONE 'UTC')::DATE AS "month" FROM "old_all_day") AS known;

-- Older hours are read from the rows.
INSERT INTO "usage_by_account_hour" SELECT * FROM "old_account_hour"
WHERE "since" >= (date_trunc('month', now() AT TIME ZONE 'UTC') - INTERVAL '4 months') AT TIME ZONE 'UTC';
INSERT INTO "usage_by_account_day" SELECT * FROM "old_account_day";
INSERT INTO "usage_by_all_hour" SELECT * FROM "old_all_hour"
WHERE "since" >= (date_trunc('month', now() AT TIME ZONE 'UTC') - INTERVAL '2 months') AT TIME ZONE 'UTC';
INSERT INTO "usage_by_all_day" SELECT * FROM "old_all_day";

DROP TABLE "old_account_hour", "old_account_day", "old_all_hour", "old_all_day";

ALTER TABLE "usage_by_account_hour" ADD CONSTRAINT "usage_by_account_hour_pkey" PRIMARY KEY ("since", "user_id", "key_id", "group_id", "project");
CREATE INDEX "usage_by_account_hour_user_id_since_idx" ON "usage_by_account_hour" ("user_id", "since");
CREATE INDEX "usage_by_account_hour_group_idx" ON "usage_by_account_hour" ("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000'::UUID;
ANALYZE "usage_by_account_hour";

ALTER TABLE "usage_by_account_day" ADD CONSTRAINT "usage_by_account_day_pkey" PRIMARY KEY ("since", "user_id", "key_id", "group_id", "project");
CREATE INDEX "usage_by_account_day_user_id_since_idx" ON "usage_by_account_day" ("user_id", "since");
CREATE INDEX "usage_by_account_day_group_idx" ON "usage_by_account_day" ("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000'::UUID;
ANALYZE "usage_by_account_day";

ALTER TABLE "usage_by_all_hour" ADD CONSTRAINT "usage_by_all_hour_pkey" PRIMARY KEY ("since", "user_id", "key_id", "group_id", "project", "model", "upstream");
CREATE INDEX "usage_by_all_hour_user_id_since_idx" ON "usage_by_all_hour" ("user_id", "since");
CREATE INDEX "usage_by_all_hour_group_idx" ON "usage_by_all_hour" ("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000'::UUID;
ANALYZE "usage_by_all_hour";

ALTER TABLE "usage_by_all_day" ADD CONSTRAINT "usage_by_all_day_pkey" PRIMARY KEY ("since", "user_id", "key_id", "group_id", "project", "model", "upstream");
CREATE INDEX "usage_by_all_day_user_id_since_idx" ON "usage_by_all_day" ("user_id", "since");
CREATE INDEX "usage_by_all_day_group_idx" ON "usage_by_all_day" ("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000'::UUID;
ANALYZE "usage_by_all_day";
