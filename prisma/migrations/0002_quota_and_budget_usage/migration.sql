-- What quotas and budgets are checked against becomes one line for each: quota_usage replaces usage_totals, budget_usage key_spend.

-- Until this is committed, nobody settles usage.
SELECT pg_advisory_xact_lock(72707370);

-- CreateTable
CREATE TABLE "quota_usage" (
    "user_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "tier_cost" DECIMAL NOT NULL,
    "tier_tokens" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "quota_usage_pkey" PRIMARY KEY ("user_id","month")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "budget_usage" (
    "key_id" UUID NOT NULL,
    "period" VARCHAR(8) NOT NULL,
    "start" DATE NOT NULL,
    "cost" DECIMAL NOT NULL,
    "version" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "budget_usage_pkey" PRIMARY KEY ("key_id","period","start")
) WITH (fillfactor = 80);

INSERT INTO "quota_usage" ("user_id", "month", "requests", "tier_cost", "tier_tokens", "updated_at")
SELECT "user_id", "month", sum("requests"), sum("tier_cost"), sum("tier_tokens"), max("updated_at")
FROM "usage_totals" GROUP BY 1, 2;

INSERT INTO "budget_usage" ("key_id", "period", "start", "cost", "version", "updated_at")
SELECT
    spend."key_id",
    key."budget_period",
    CASE key."budget_period"
        WHEN 'total' THEN '1970-01-01'
        ELSE date_trunc(key."budget_period", spend."day"::TIMESTAMP)::DATE
    END,
    sum(spend."cost"), sum(spend."requests"), max(spend."updated_at")
FROM "key_spend" spend JOIN "api_keys" key ON key."id" = spend."key_id" AND key."budget_period" IS NOT NULL
GROUP BY 1, 2, 3;

-- CreateIndex
CREATE INDEX "quota_usage_month_updated_at_idx" ON "quota_usage"("month", "updated_at");

-- CreateIndex
CREATE INDEX "budget_usage_updated_at_idx" ON "budget_usage"("updated_at");

-- DropTable
DROP TABLE "usage_totals";

-- DropTable
DROP TABLE "key_spend";
