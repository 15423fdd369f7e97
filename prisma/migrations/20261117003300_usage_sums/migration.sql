-- CreateTable
CREATE TABLE "usage_sums" (
    "cut" VARCHAR(8) NOT NULL,
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
);

-- CreateTable
CREATE TABLE "usage_sums_state" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "complete_since" TIMESTAMPTZ(6),

    CONSTRAINT "usage_sums_state_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "usage_sums_user_id_cut_grain_since_idx" ON "usage_sums"("user_id", "cut", "grain", "since");

-- From here on: what schema.prisma cannot say.

-- Most lines belong to no group.
CREATE INDEX "usage_sums_group_idx" ON "usage_sums"("group_id", "cut", "grain", "since")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';

-- Lines are updated many times: with room in their page, an update changes no index.
ALTER TABLE "usage_sums" SET (fillfactor = 80);

ALTER TABLE "usage_sums_state" ADD CONSTRAINT "usage_sums_state_id_check" CHECK ("id" = 1);

-- Counts new rows in the transaction that writes them, as "usage_records_count" does. One statement, whatever the number of
-- lines; they are taken in the order of their keys, so that two writers wait for one another instead of colliding.
CREATE FUNCTION "usage_records_sum"() RETURNS TRIGGER
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
        CASE WHEN GROUPING("user_id") = 1 THEN 'model' WHEN GROUPING("model") = 1 THEN 'account' ELSE 'all' END,
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

-- Rows that are there already are not counted here, so that nothing waits for it: the recorder's process counts them day by
-- day, and until then they are read one by one. Whatever waits for the lock of the table makes later queries wait as well, so
-- each attempt waits for at most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      CREATE TRIGGER "usage_records_summed"
          AFTER INSERT ON "usage_records"
          REFERENCING NEW TABLE AS added
          FOR EACH STATEMENT EXECUTE FUNCTION "usage_records_sum"();
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

INSERT INTO "usage_sums_state" ("complete_since")
SELECT date_trunc('day', greatest(now(), max("created_at")), 'UTC') + INTERVAL '1 day'
FROM (SELECT "created_at" FROM "usage_records" ORDER BY "created_at" DESC LIMIT 1) AS newest
HAVING count(*) > 0
UNION ALL
SELECT NULL
LIMIT 1;
