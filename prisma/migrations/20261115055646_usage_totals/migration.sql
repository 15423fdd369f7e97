-- AlterTable
ALTER TABLE "ledger_accounts" ADD COLUMN     "version" BIGINT NOT NULL DEFAULT 1;

-- CreateTable
CREATE TABLE "usage_totals" (
    "user_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "month" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "tier_requests" BIGINT NOT NULL,
    "tier_cost" DECIMAL NOT NULL,
    "tier_tokens" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_totals_pkey" PRIMARY KEY ("user_id","month","project")
);

-- CreateTable
CREATE TABLE "usage_daily" (
    "day" DATE NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "backend" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,

    CONSTRAINT "usage_daily_pkey" PRIMARY KEY ("day","model","backend")
);

-- CreateTable
CREATE TABLE "usage_daily_refs" (
    "ref_id" VARCHAR(64) NOT NULL,
    "day" DATE NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "backend" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,

    CONSTRAINT "usage_daily_refs_pkey" PRIMARY KEY ("ref_id","day","model","backend")
);

-- CreateIndex
CREATE INDEX "usage_totals_month_updated_at_idx" ON "usage_totals"("month", "updated_at");

-- CreateIndex
CREATE INDEX "usage_daily_refs_day_idx" ON "usage_daily_refs"("day");

-- CreateIndex
CREATE INDEX "ledger_accounts_updated_at_idx" ON "ledger_accounts"("updated_at");

-- From here on: what schema.prisma cannot say.

-- Counts new rows in the transaction that writes them, whoever does. The trigger stands on the partitioned table and is not
-- inherited: rows that are moved straight between partitions are not counted again, and totals outlive the rows of a month
-- that is let go of. Lines are taken in the order of their keys, so that two who write at once wait for one another instead
-- of colliding.
CREATE FUNCTION "usage_records_count"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO "usage_totals" AS total (
        "user_id", "project", "month", "requests", "tier_requests", "tier_cost", "tier_tokens", "updated_at"
    )
    SELECT
        "user_id",
        CASE WHEN "key_id" IS NULL THEN '' ELSE coalesce("project", '') END,
        date_trunc('month', "created_at" AT TIME ZONE 'UTC')::DATE,
        count(*),
        count(*) FILTER (WHERE "points" IS NULL),
        coalesce(sum("cost"::NUMERIC) FILTER (WHERE "points" IS NULL), 0),
        coalesce(sum("total_tokens") FILTER (WHERE "points" IS NULL), 0),
        clock_timestamp()
    FROM added
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    ON CONFLICT ("user_id", "month", "project") DO UPDATE SET
        "requests" = total."requests" + EXCLUDED."requests",
        "tier_requests" = total."tier_requests" + EXCLUDED."tier_requests",
        "tier_cost" = total."tier_cost" + EXCLUDED."tier_cost",
        "tier_tokens" = total."tier_tokens" + EXCLUDED."tier_tokens",
        "updated_at" = EXCLUDED."updated_at";

    INSERT INTO "usage_daily" AS daily (
        "day", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
    )
    SELECT
        ("created_at" AT TIME ZONE 'UTC')::DATE, "model", "backend",
        count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
    FROM added
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    ON CONFLICT ("day", "model", "backend") DO UPDATE SET
        "requests" = daily."requests" + EXCLUDED."requests",
        "prompt_tokens" = daily."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = daily."completion_tokens" + EXCLUDED."completion_tokens",
        "total_tokens" = daily."total_tokens" + EXCLUDED."total_tokens",
        "cost" = daily."cost" + EXCLUDED."cost";

    INSERT INTO "usage_daily_refs" AS daily (
        "ref_id", "day", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
    )
    SELECT
        "ref_id", ("created_at" AT TIME ZONE 'UTC')::DATE, "model", "backend",
        count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
    FROM added
    WHERE "ref_id" IS NOT NULL
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    ON CONFLICT ("ref_id", "day", "model", "backend") DO UPDATE SET
        "requests" = daily."requests" + EXCLUDED."requests",
        "prompt_tokens" = daily."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = daily."completion_tokens" + EXCLUDED."completion_tokens",
        "total_tokens" = daily."total_tokens" + EXCLUDED."total_tokens",
        "cost" = daily."cost" + EXCLUDED."cost";

    RETURN NULL;
END
$$;

-- Making a trigger keeps writers out until this migration is committed, so the rows below are all that there are.
CREATE TRIGGER "usage_records_counted"
    AFTER INSERT ON "usage_records"
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION "usage_records_count"();

INSERT INTO "usage_totals" (
    "user_id", "project", "month", "requests", "tier_requests", "tier_cost", "tier_tokens", "updated_at"
)
SELECT
    "user_id",
    CASE WHEN "key_id" IS NULL THEN '' ELSE coalesce("project", '') END,
    date_trunc('month', "created_at" AT TIME ZONE 'UTC')::DATE,
    count(*),
    count(*) FILTER (WHERE "points" IS NULL),
    coalesce(sum("cost"::NUMERIC) FILTER (WHERE "points" IS NULL), 0),
    coalesce(sum("total_tokens") FILTER (WHERE "points" IS NULL), 0),
    clock_timestamp()
FROM "usage_records"
GROUP BY 1, 2, 3;

INSERT INTO "usage_daily" (
    "day", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
)
SELECT
    ("created_at" AT TIME ZONE 'UTC')::DATE, "model", "backend",
    count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
FROM "usage_records"
GROUP BY 1, 2, 3;

INSERT INTO "usage_daily_refs" (
    "ref_id", "day", "model", "backend", "requests", "prompt_tokens", "completion_tokens", "total_tokens", "cost"
)
SELECT
    "ref_id", ("created_at" AT TIME ZONE 'UTC')::DATE, "model", "backend",
    count(*), sum("prompt_tokens"), sum("completion_tokens"), sum("total_tokens"), coalesce(sum("cost"::NUMERIC), 0)
FROM "usage_records"
WHERE "ref_id" IS NOT NULL
GROUP BY 1, 2, 3, 4;

-- A cost that is no number would spoil every sum that it is part of.
ALTER TABLE "usage_records" DROP CONSTRAINT "usage_records_cost_check",
    ADD CONSTRAINT "usage_records_cost_check" CHECK ("cost" >= 0 AND "cost" < 'Infinity');

-- Whoever changes an account, its version goes up; and one that grows is no longer refused.
CREATE FUNCTION "ledger_accounts_note_change"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    NEW."version" := OLD."version" + 1;
    NEW."updated_at" := clock_timestamp();
    IF NEW."balance" > OLD."balance" THEN
        NEW."refused_until" := NULL;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER "ledger_accounts_noted"
    BEFORE UPDATE ON "ledger_accounts"
    FOR EACH ROW EXECUTE FUNCTION "ledger_accounts_note_change"();
