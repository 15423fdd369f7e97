-- What schema.prisma cannot say.

-- Lines of all dimensions are from here on also kept by the hour, for two months. They replace the lines that were made after the
-- day: rests of days, hours of busy users, and hours of projects in large groups. Everything happens in one transaction. Whoever
-- reads must not wait while the indexes are made, so locks that keep readers out come last and are held for moments; until then only
-- writers wait. Usage waits in the recorder's journal, and requests are served.

-- All locks that keep writers out, together: an attempt that does not get one gives all of them back, so that a writer that holds
-- one and waits for another goes on. The first is the lock of settlements, which read usage rows before they write.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      -- Longer than Postgres takes to stop a vacuum that is in the way.
      SET LOCAL lock_timeout = '5s';
      PERFORM pg_advisory_xact_lock(72707370);
      LOCK TABLE "request_failures", "usage_records", "usage_sums", "usage_sums_state" IN SHARE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

-- With the grain, since the lines of hours are many times those of days.
CREATE INDEX "usage_sums_all_user_new_idx" ON "usage_sums_all"("user_id", "grain", "since");
CREATE INDEX "usage_sums_all_group_new_idx" ON "usage_sums_all"("group_id", "grain", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';

CREATE OR REPLACE FUNCTION "usage_records_sum"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
DECLARE
    nothing CONSTANT UUID := '00000000-0000-0000-0000-000000000000';
BEGIN
    INSERT INTO "usage_sums" AS kept (
        "cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream",
        "requests", "errors", "failed", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points"
    )
    SELECT
        CASE GROUPING("user_id", "group_id", "project", "model")
            WHEN 14 THEN 'model' WHEN 11 THEN 'group' WHEN 13 THEN 'project' WHEN 10 THEN 'group-model'
            WHEN 1 THEN 'account' ELSE 'all' END,
        CASE WHEN GROUPING("day") = 1 THEN 'hour' ELSE 'day' END,
        coalesce("hour", "day"),
        coalesce("user_id", nothing), coalesce("key_id", nothing), coalesce("group_id", nothing),
        coalesce("project", ''), coalesce("model", ''), coalesce("upstream", ''),
        sum("requests"), sum("errors"), 0,
        sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
    FROM (
        SELECT
            "hour", date_trunc('day', "hour", 'UTC') AS "day",
            "user_id", coalesce("key_id", nothing) AS "key_id", coalesce("group_id", nothing) AS "group_id",
            coalesce("project", '') AS "project", "model", coalesce("upstream", '') AS "upstream",
            count(*) AS "requests", count(*) FILTER (WHERE "status" >= 400) AS "errors",
            sum("prompt_tokens") AS "prompt_tokens", sum("completion_tokens") AS "completion_tokens",
            coalesce(sum("cached_tokens"), 0) AS "cached_tokens", sum("total_tokens") AS "total_tokens",
            coalesce(sum("cost"::NUMERIC), 0) AS "cost", coalesce(sum("points"), 0) AS "points"
        FROM (SELECT date_trunc('hour', "created_at", 'UTC') AS "hour", * FROM added) AS row
        GROUP BY "hour", "user_id", "key_id", "group_id", "project", "model", "upstream"
    ) AS line
    GROUP BY GROUPING SETS (
        ("hour", "model", "upstream"),
        ("day", "model", "upstream"),
        ("hour", "group_id"),
        ("day", "group_id"),
        ("hour", "project"),
        ("day", "project"),
        ("hour", "group_id", "model", "upstream"),
        ("day", "group_id", "model", "upstream"),
        ("hour", "user_id", "key_id", "group_id", "project"),
        ("day", "user_id", "key_id", "group_id", "project"),
        ("hour", "user_id", "key_id", "group_id", "project", "model", "upstream"),
        ("day", "user_id", "key_id", "group_id", "project", "model", "upstream")
    )
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ON CONFLICT ("cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET
        "requests" = kept."requests" + EXCLUDED."requests",
        "errors" = kept."errors" + EXCLUDED."errors",
        "prompt_tokens" = kept."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = kept."completion_tokens" + EXCLUDED."completion_tokens",
        "cached_tokens" = kept."cached_tokens" + EXCLUDED."cached_tokens",
        "total_tokens" = kept."total_tokens" + EXCLUDED."total_tokens",
        "cost" = kept."cost" + EXCLUDED."cost",
        "points" = kept."points" + EXCLUDED."points";

    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "request_failures_sum"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
DECLARE
    nothing CONSTANT UUID := '00000000-0000-0000-0000-000000000000';
BEGIN
    INSERT INTO "usage_sums" AS kept (
        "cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream",
        "requests", "errors", "failed", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points"
    )
    SELECT
        CASE GROUPING("user_id", "group_id", "project", "model")
            WHEN 14 THEN 'model' WHEN 11 THEN 'group' WHEN 13 THEN 'project' WHEN 10 THEN 'group-model'
            WHEN 1 THEN 'account' ELSE 'all' END,
        CASE WHEN GROUPING("day") = 1 THEN 'hour' ELSE 'day' END,
        coalesce("hour", "day"),
        coalesce("user_id", nothing), coalesce("key_id", nothing), coalesce("group_id", nothing),
        coalesce("project", ''), coalesce("model", ''), coalesce("upstream", ''),
        0, 0, sum("repeats"), 0, 0, 0, 0, 0, 0
    FROM (
        SELECT
            date_trunc('hour', "created_at", 'UTC') AS "hour", date_trunc('day', "created_at", 'UTC') AS "day",
            "user_id", coalesce("key_id", nothing) AS "key_id", coalesce("group_id", nothing) AS "group_id",
            coalesce("project", '') AS "project", "counted_model" AS "model", coalesce("upstream", '') AS "upstream", "repeats"
        FROM added
    ) AS row
    GROUP BY GROUPING SETS (
        ("hour", "model", "upstream"),
        ("day", "model", "upstream"),
        ("hour", "group_id"),
        ("day", "group_id"),
        ("hour", "project"),
        ("day", "project"),
        ("hour", "group_id", "model", "upstream"),
        ("day", "group_id", "model", "upstream"),
        ("hour", "user_id", "key_id", "group_id", "project"),
        ("day", "user_id", "key_id", "group_id", "project"),
        ("hour", "user_id", "key_id", "group_id", "project", "model", "upstream"),
        ("day", "user_id", "key_id", "group_id", "project", "model", "upstream")
    )
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ON CONFLICT ("cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET
        "failed" = kept."failed" + EXCLUDED."failed";

    RETURN NULL;
END
$$;

-- Earlier rows are counted by the recorder's process, day by day; until then they are read one by one.
UPDATE "usage_sums_state" SET "hours_complete_since" = (
    SELECT date_trunc('day', greatest(now(), max("created_at")), 'UTC') + INTERVAL '1 day'
    FROM (
        (SELECT "created_at" FROM "usage_records" ORDER BY "created_at" DESC LIMIT 1)
        UNION ALL
        (SELECT "created_at" FROM "request_failures" ORDER BY "created_at" DESC LIMIT 1)
    ) AS newest
    HAVING count(*) > 0
);

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP TABLE "usage_sums_account_rest", "usage_sums_busy", "usage_sums_group_project";
      DROP INDEX "usage_sums_all_user_idx", "usage_sums_all_group_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

ALTER INDEX "usage_sums_all_user_new_idx" RENAME TO "usage_sums_all_user_idx";
ALTER INDEX "usage_sums_all_group_new_idx" RENAME TO "usage_sums_all_group_idx";
