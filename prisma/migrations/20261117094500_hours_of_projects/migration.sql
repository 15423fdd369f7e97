-- Everything happens in one transaction. Whoever reads must not wait while the indexes are made, so locks that keep readers out
-- come last and are held for moments; until then only writers wait. Usage waits in the recorder's journal, and requests are served.

-- All locks that keep writers out, together: an attempt that does not get one gives all of them back, so that a writer that holds
-- one and waits for another goes on. The first is the lock of settlements, which read usage rows before they write: one that
-- waited to write would keep the indexes from being removed below.
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

-- CreateIndex
CREATE INDEX "usage_records_api_key_id_new_idx" ON "usage_records" USING BRIN ("api_key_id");

-- CreateIndex
CREATE INDEX "usage_records_model_created_at_id_idx" ON "usage_records"("model", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "usage_records_project_created_at_id_idx" ON "usage_records"("project", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_model_created_at_id_idx" ON "request_failures"("model", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_project_created_at_id_idx" ON "request_failures"("project", "created_at" DESC, "id");

-- Few rows are errors, so that this costs other rows nothing.
CREATE INDEX "usage_records_errors_idx" ON "usage_records"("created_at" DESC, "id") WHERE "status" >= 400;

CREATE INDEX "usage_sums_group_model_group_new_idx" ON "usage_sums_group_model"("group_id", "grain", "since");

-- Projects, and models of a group, are from here on also counted by the hour. Earlier rows are counted by the recorder's process,
-- day by day; until then they are read one by one.
-- Counts new rows in the transaction that writes them, as "usage_records_count" does. One statement, whatever the number of
-- lines; they are taken in the order of their keys, so that two writers wait for one another instead of colliding.
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
        count(*), count(*) FILTER (WHERE "status" >= 400), 0,
        sum("prompt_tokens"), sum("completion_tokens"), coalesce(sum("cached_tokens"), 0), sum("total_tokens"),
        coalesce(sum("cost"), 0), coalesce(sum("points"), 0)
    FROM (
        SELECT
            date_trunc('hour', "created_at", 'UTC') AS "hour", date_trunc('day', "created_at", 'UTC') AS "day",
            "user_id", coalesce("key_id", nothing) AS "key_id", coalesce("group_id", nothing) AS "group_id",
            coalesce("project", '') AS "project", "model", coalesce("upstream", '') AS "upstream",
            "status", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost"::NUMERIC AS "cost", "points"
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

-- The same for failed requests, which add to nothing but the errors.
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
        ("day", "user_id", "key_id", "group_id", "project", "model", "upstream")
    )
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ON CONFLICT ("cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET
        "failed" = kept."failed" + EXCLUDED."failed";

    RETURN NULL;
END
$$;

-- A process of the version before, which counts a day again, takes these lines for wrong ones. It cannot delete them: whoever
-- knows them says so.
CREATE FUNCTION "usage_sums_keep_hours"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE TRIGGER "usage_sums_project_hours_kept"
    BEFORE DELETE ON "usage_sums_project"
    FOR EACH ROW
    WHEN (OLD."grain" = 'hour' AND current_setting('usage_sums.counts_hours', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION "usage_sums_keep_hours"();

CREATE TRIGGER "usage_sums_group_model_hours_kept"
    BEFORE DELETE ON "usage_sums_group_model"
    FOR EACH ROW
    WHEN (OLD."grain" = 'hour' AND current_setting('usage_sums.counts_hours', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION "usage_sums_keep_hours"();

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      ALTER TABLE "usage_sums_state" ADD COLUMN     "hours_complete_since" TIMESTAMPTZ(6);
      DROP INDEX "usage_sums_group_model_group_idx";
      DROP INDEX "usage_records_api_key_id_idx";
      DROP INDEX "usage_records_model_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

ALTER INDEX "usage_sums_group_model_group_new_idx" RENAME TO "usage_sums_group_model_group_idx";
ALTER INDEX "usage_records_api_key_id_new_idx" RENAME TO "usage_records_api_key_id_idx";

-- Not "complete_since": processes of the version before go by it, and set it to null without having counted these hours.
UPDATE "usage_sums_state" SET "hours_complete_since" = (
    SELECT date_trunc('day', greatest(now(), max("created_at")), 'UTC') + INTERVAL '1 day'
    FROM (
        (SELECT "created_at" FROM "usage_records" ORDER BY "created_at" DESC LIMIT 1)
        UNION ALL
        (SELECT "created_at" FROM "request_failures" ORDER BY "created_at" DESC LIMIT 1)
    ) AS newest
    HAVING count(*) > 0
);
