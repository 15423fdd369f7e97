-- CreateTable
CREATE TABLE "request_failures" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID,
    "group_id" UUID,
    "api_key_id" VARCHAR(64) NOT NULL,
    "project" VARCHAR(128),
    "backend" VARCHAR(64) NOT NULL,
    "model" VARCHAR(128),
    "counted_model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255),
    "ref_id" VARCHAR(64),
    "latency_ms" INTEGER,
    "status" INTEGER NOT NULL,
    "error_code" VARCHAR(64) NOT NULL,
    "error" VARCHAR(1000) NOT NULL,
    "request_id" VARCHAR(128),
    "attempts" JSONB,
    "repeats" INTEGER NOT NULL,

    CONSTRAINT "request_failures_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_details" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "request_id" VARCHAR(128),
    "attempts" JSONB,

    CONSTRAINT "request_details_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_bodies" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "request" TEXT,
    "answer" TEXT,

    CONSTRAINT "request_bodies_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "request_failures_created_at_id_idx" ON "request_failures"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_user_id_created_at_id_idx" ON "request_failures"("user_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_details_created_at_idx" ON "request_details"("created_at");

-- CreateIndex
CREATE INDEX "request_details_user_id_idx" ON "request_details"("user_id");

-- CreateIndex
CREATE INDEX "request_bodies_created_at_idx" ON "request_bodies"("created_at");

-- CreateIndex
CREATE INDEX "request_bodies_user_id_idx" ON "request_bodies"("user_id");

-- From here on: what schema.prisma cannot say.

ALTER TABLE "request_failures" ADD CONSTRAINT "request_failures_repeats_check" CHECK ("repeats" > 0);

-- Most requests have an id of the service, which is the id of the row.
CREATE INDEX "request_failures_request_id_idx" ON "request_failures"("request_id") WHERE "request_id" IS NOT NULL;
CREATE INDEX "request_details_request_id_idx" ON "request_details"("request_id") WHERE "request_id" IS NOT NULL;
CREATE INDEX "request_failures_group_idx" ON "request_failures"("group_id", "created_at" DESC, "id")
    WHERE "group_id" IS NOT NULL;

-- The kept sums begin anew in a table that is partitioned by cut: a summary then reads few pages, whatever the number of lines
-- of other cuts. Nothing is copied, so that nothing waits for it: the recorder's process counts the rows day by day, and until
-- then they are read one by one. Whatever waits for the lock of the table makes later queries wait as well, so each attempt
-- waits for at most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP TABLE "usage_sums";
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

CREATE TABLE "usage_sums" (
    "cut" VARCHAR(16) NOT NULL,
    "grain" VARCHAR(4) NOT NULL,
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_sums_pkey" PRIMARY KEY ("cut","grain","since","user_id","key_id","group_id","project","model","upstream")
) PARTITION BY LIST ("cut");

-- Lines are updated many times: with room in their page, an update changes no index.
CREATE TABLE "usage_sums_model" PARTITION OF "usage_sums" FOR VALUES IN ('model') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_group" PARTITION OF "usage_sums" FOR VALUES IN ('group') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_project" PARTITION OF "usage_sums" FOR VALUES IN ('project') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_group_model" PARTITION OF "usage_sums" FOR VALUES IN ('group-model') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_all" PARTITION OF "usage_sums" FOR VALUES IN ('all') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_account" PARTITION OF "usage_sums" FOR VALUES IN ('account') PARTITION BY LIST ("grain");
CREATE TABLE "usage_sums_account_hour" PARTITION OF "usage_sums_account" FOR VALUES IN ('hour') WITH (fillfactor = 80);
CREATE TABLE "usage_sums_account_day" PARTITION OF "usage_sums_account" FOR VALUES IN ('day') WITH (fillfactor = 80);

CREATE INDEX "usage_sums_all_user_idx" ON "usage_sums_all"("user_id", "since");
CREATE INDEX "usage_sums_group_group_idx" ON "usage_sums_group"("group_id", "grain", "since");
CREATE INDEX "usage_sums_group_model_group_idx" ON "usage_sums_group_model"("group_id", "since");
CREATE INDEX "usage_sums_account_user_idx" ON "usage_sums_account"("user_id", "since");
-- Most lines belong to no group.
CREATE INDEX "usage_sums_all_group_idx" ON "usage_sums_all"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';
CREATE INDEX "usage_sums_account_group_idx" ON "usage_sums_account"("group_id", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';

ALTER TABLE "usage_sums_state" ADD COLUMN     "failures_since" TIMESTAMPTZ(6);

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
        ("day", "project"),
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
CREATE FUNCTION "request_failures_sum"() RETURNS TRIGGER
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
        ("day", "project"),
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

CREATE TRIGGER "request_failures_summed"
    AFTER INSERT ON "request_failures"
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION "request_failures_sum"();

UPDATE "usage_sums_state" SET "complete_since" = (
    SELECT date_trunc('day', greatest(now(), max("created_at")), 'UTC') + INTERVAL '1 day'
    FROM (SELECT "created_at" FROM "usage_records" ORDER BY "created_at" DESC LIMIT 1) AS newest
    HAVING count(*) > 0
);
