-- What schema.prisma cannot say.

-- Sums of usage are kept in three cuts, each by the hour and by the day, and the days of references. They replace six cuts in one
-- table, and the days and hours beside it. The recorder and the request log add to them; no trigger counts any more. Everything
-- happens in one transaction, which counts all rows again: usage waits in the recorder's journal meanwhile, and requests are served.

DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      -- Longer than Postgres takes to stop a vacuum that is in the way. The first is the lock of settlements.
      SET LOCAL lock_timeout = '5s';
      PERFORM pg_advisory_xact_lock(72707370);
      LOCK TABLE "request_failures", "usage_records", "usage_sums", "usage_sums_state" IN SHARE ROW EXCLUSIVE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

CREATE TABLE "usage_by_model_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_model_hour_pkey" PRIMARY KEY ("since","model","upstream","surface")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_model_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_model_day_pkey" PRIMARY KEY ("since","model","upstream","surface")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_account_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_account_hour_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_account_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_account_day_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_all_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_all_hour_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project","model","upstream")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_all_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_all_day_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project","model","upstream")
) WITH (fillfactor = 80);

CREATE TABLE "usage_by_ref_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "ref_id" VARCHAR(64) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_ref_day_pkey" PRIMARY KEY ("since","ref_id","model","surface")
) WITH (fillfactor = 80);

-- Served requests, and failed ones that are still in the log.
CREATE TEMPORARY TABLE "counted" ON COMMIT DROP AS
SELECT
    date_trunc('hour', "created_at", 'UTC') AS "hour", "user_id",
    coalesce("key_id", '00000000-0000-0000-0000-000000000000') AS "key_id", coalesce("group_id", '00000000-0000-0000-0000-000000000000') AS "group_id",
    coalesce("project", '') AS "project", "model", coalesce("upstream", '') AS "upstream", "backend" AS "surface", "ref_id",
    count(*) AS "requests", count(*) FILTER (WHERE "status" >= 400 AND "status" <> 499) AS "errors",
    count(*) FILTER (WHERE "status" = 499) AS "cancelled", 0::BIGINT AS "failed", 0::BIGINT AS "failed_cancelled",
    sum("prompt_tokens") AS "prompt_tokens", sum("completion_tokens") AS "completion_tokens",
    coalesce(sum("cached_tokens"), 0) AS "cached_tokens", sum("total_tokens") AS "total_tokens",
    coalesce(sum("cost"::NUMERIC), 0) AS "cost", coalesce(sum("points"), 0) AS "points"
FROM "usage_records"
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
UNION ALL
SELECT
    date_trunc('hour', "created_at", 'UTC'), "user_id",
    coalesce("key_id", '00000000-0000-0000-0000-000000000000'), coalesce("group_id", '00000000-0000-0000-0000-000000000000'),
    coalesce("project", ''), "counted_model", coalesce("upstream", ''), "backend", NULL,
    0, 0, 0, sum("repeats"), coalesce(sum("repeats") FILTER (WHERE "status" = 499), 0), 0, 0, 0, 0, 0, 0
FROM "request_failures"
WHERE "created_at" >= coalesce((SELECT "failures_since" FROM "usage_sums_state"), '-infinity')
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

INSERT INTO "usage_by_model_hour" ("since", "model", "upstream", "surface", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "hour", "model", "upstream", "surface", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "model", "upstream", "surface";

INSERT INTO "usage_by_model_day" ("since", "model", "upstream", "surface", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT date_trunc('day', "hour", 'UTC'), "model", "upstream", "surface", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "model", "upstream", "surface";

INSERT INTO "usage_by_account_hour" ("since", "user_id", "key_id", "group_id", "project", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "hour", "user_id", "key_id", "group_id", "project", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "user_id", "key_id", "group_id", "project";

INSERT INTO "usage_by_account_day" ("since", "user_id", "key_id", "group_id", "project", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT date_trunc('day', "hour", 'UTC'), "user_id", "key_id", "group_id", "project", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "user_id", "key_id", "group_id", "project";

INSERT INTO "usage_by_all_hour" ("since", "user_id", "key_id", "group_id", "project", "model", "upstream", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "hour", "user_id", "key_id", "group_id", "project", "model", "upstream", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "user_id", "key_id", "group_id", "project", "model", "upstream";

INSERT INTO "usage_by_all_day" ("since", "user_id", "key_id", "group_id", "project", "model", "upstream", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT date_trunc('day', "hour", 'UTC'), "user_id", "key_id", "group_id", "project", "model", "upstream", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" GROUP BY 1, "user_id", "key_id", "group_id", "project", "model", "upstream";

INSERT INTO "usage_by_ref_day" ("since", "ref_id", "model", "surface", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT date_trunc('day', "hour", 'UTC'), "ref_id", "model", "surface", sum("requests"), sum("errors"), sum("cancelled"), sum("failed"), sum("failed_cancelled"), sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
FROM "counted" WHERE "ref_id" IS NOT NULL GROUP BY 1, "ref_id", "model", "surface";

-- Failed requests that were deleted from the log are known from the earlier sums alone.
INSERT INTO "usage_by_model_hour" AS kept ("since", "model", "upstream", "surface", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "model", "upstream", '', 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'model' AND "grain" = 'hour' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "model", "upstream", "surface") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

INSERT INTO "usage_by_model_day" AS kept ("since", "model", "upstream", "surface", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "model", "upstream", '', 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'model' AND "grain" = 'day' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "model", "upstream", "surface") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

INSERT INTO "usage_by_account_hour" AS kept ("since", "user_id", "key_id", "group_id", "project", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "user_id", "key_id", "group_id", "project", 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'account' AND "grain" = 'hour' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "user_id", "key_id", "group_id", "project") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

INSERT INTO "usage_by_account_day" AS kept ("since", "user_id", "key_id", "group_id", "project", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "user_id", "key_id", "group_id", "project", 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'account' AND "grain" = 'day' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "user_id", "key_id", "group_id", "project") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

INSERT INTO "usage_by_all_hour" AS kept ("since", "user_id", "key_id", "group_id", "project", "model", "upstream", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "user_id", "key_id", "group_id", "project", "model", "upstream", 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'all' AND "grain" = 'hour' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

INSERT INTO "usage_by_all_day" AS kept ("since", "user_id", "key_id", "group_id", "project", "model", "upstream", "requests", "errors", "cancelled", "failed", "failed_cancelled", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points")
SELECT "since", "user_id", "key_id", "group_id", "project", "model", "upstream", 0, 0, 0, "failed", 0, 0, 0, 0, 0, 0, 0
FROM "usage_sums", "usage_sums_state" AS state
WHERE "cut" = 'all' AND "grain" = 'day' AND "since" < state."failures_since" AND "failed" > 0
ON CONFLICT ("since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET "failed" = kept."failed" + EXCLUDED."failed";

CREATE INDEX "usage_by_account_hour_user_id_since_idx" ON "usage_by_account_hour"("user_id", "since");
CREATE INDEX "usage_by_account_day_user_id_since_idx" ON "usage_by_account_day"("user_id", "since");
CREATE INDEX "usage_by_all_hour_user_id_since_idx" ON "usage_by_all_hour"("user_id", "since");
CREATE INDEX "usage_by_all_day_user_id_since_idx" ON "usage_by_all_day"("user_id", "since");
CREATE INDEX "usage_by_ref_day_ref_id_since_idx" ON "usage_by_ref_day"("ref_id", "since");

CREATE INDEX "usage_by_account_hour_group_idx" ON "usage_by_account_hour"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';
CREATE INDEX "usage_by_account_day_group_idx" ON "usage_by_account_day"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';
CREATE INDEX "usage_by_all_hour_group_idx" ON "usage_by_all_hour"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';
CREATE INDEX "usage_by_all_day_group_idx" ON "usage_by_all_day"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP TRIGGER "usage_records_counted" ON "usage_records";
      DROP TRIGGER "usage_records_counted_finer" ON "usage_records";
      DROP TRIGGER "usage_records_counted_keys" ON "usage_records";
      DROP TRIGGER "usage_records_summed" ON "usage_records";
      DROP TRIGGER "request_failures_summed" ON "request_failures";
      DROP TABLE "usage_sums", "usage_daily", "usage_daily_refs", "usage_ref_days", "usage_hourly";
      ALTER TABLE "usage_sums_state" RENAME TO "request_log_state";
      ALTER TABLE "request_log_state" RENAME COLUMN "failures_since" TO "kept_since";
      ALTER TABLE "request_log_state" RENAME CONSTRAINT "usage_sums_state_pkey" TO "request_log_state_pkey";
      ALTER TABLE "request_log_state" RENAME CONSTRAINT "usage_sums_state_id_check" TO "request_log_state_id_check";
      ALTER TABLE "request_log_state" DROP COLUMN "complete_since", DROP COLUMN "hours_complete_since";
      DROP INDEX "usage_records_cancelled_idx", "request_failures_cancelled_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

DROP FUNCTION "usage_records_count"(), "usage_records_count_finer"(), "usage_records_count_keys"(), "usage_records_sum"(),
    "request_failures_sum"(), "usage_sums_keep_hours"();
