-- DropIndex
DROP INDEX "usage_daily_refs_day_idx";

-- CreateTable
CREATE TABLE "usage_ref_days" (
    "ref_id" VARCHAR(64) NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,

    CONSTRAINT "usage_ref_days_pkey" PRIMARY KEY ("ref_id","day")
);

-- CreateTable
CREATE TABLE "usage_hourly" (
    "hour" TIMESTAMPTZ(6) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "backend" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,

    CONSTRAINT "usage_hourly_pkey" PRIMARY KEY ("hour","model","backend")
);

-- CreateIndex
CREATE INDEX "usage_ref_days_day_idx" ON "usage_ref_days"("day");

-- From here on: what schema.prisma cannot say.

-- Counts new rows by hour, and by day and reference, in the same way as "usage_records_count" does by day.
CREATE FUNCTION "usage_records_count_finer"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO "usage_hourly" AS hourly (
        "hour", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
    )
    SELECT
        date_trunc('hour', "created_at", 'UTC'), "model", "backend",
        count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
    FROM added
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    ON CONFLICT ("hour", "model", "backend") DO UPDATE SET
        "requests" = hourly."requests" + EXCLUDED."requests",
        "prompt_tokens" = hourly."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = hourly."completion_tokens" + EXCLUDED."completion_tokens",
        "total_tokens" = hourly."total_tokens" + EXCLUDED."total_tokens",
        "cost" = hourly."cost" + EXCLUDED."cost";

    INSERT INTO "usage_ref_days" AS daily (
        "ref_id", "day", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
    )
    SELECT
        "ref_id", ("created_at" AT TIME ZONE 'UTC')::DATE,
        count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
    FROM added
    WHERE "ref_id" IS NOT NULL
    GROUP BY 1, 2
    ORDER BY 1, 2
    ON CONFLICT ("ref_id", "day") DO UPDATE SET
        "requests" = daily."requests" + EXCLUDED."requests",
        "prompt_tokens" = daily."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = daily."completion_tokens" + EXCLUDED."completion_tokens",
        "total_tokens" = daily."total_tokens" + EXCLUDED."total_tokens",
        "cost" = daily."cost" + EXCLUDED."cost";

    RETURN NULL;
END
$$;

-- Making a trigger keeps writers out until this migration is committed, so the rows below are all that there are.
CREATE TRIGGER "usage_records_counted_finer"
    AFTER INSERT ON "usage_records"
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION "usage_records_count_finer"();

INSERT INTO "usage_hourly" (
    "hour", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
)
SELECT
    date_trunc('hour', "created_at", 'UTC'), "model", "backend",
    count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
FROM "usage_records"
GROUP BY 1, 2, 3;

INSERT INTO "usage_ref_days" (
    "ref_id", "day", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
)
SELECT
    "ref_id", "day", sum("requests"), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), sum("cost")
FROM "usage_daily_refs"
GROUP BY 1, 2;
