-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "budget_period" VARCHAR(8),
ADD COLUMN     "budget_usd" DOUBLE PRECISION,
ADD COLUMN     "cache_ttl_secs" INTEGER,
ADD COLUMN     "expires_at" TIMESTAMPTZ(6),
ADD COLUMN     "log_bodies" BOOLEAN,
ADD COLUMN     "metadata" JSONB,
ADD COLUMN     "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "previous_hash" CHAR(64),
ADD COLUMN     "previous_until" TIMESTAMPTZ(6),
ADD COLUMN     "rpm" INTEGER,
ADD COLUMN     "tpm" INTEGER;

-- CreateTable
CREATE TABLE "key_spend" (
    "key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "key_spend_pkey" PRIMARY KEY ("key_id","day")
);

-- CreateTable
CREATE TABLE "budget_thresholds" (
    "key_id" UUID NOT NULL,
    "period" VARCHAR(8) NOT NULL,
    "start" DATE NOT NULL,
    "percent" INTEGER NOT NULL,
    "budget_usd" DOUBLE PRECISION NOT NULL,
    "spent_usd" DOUBLE PRECISION NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(6),

    CONSTRAINT "budget_thresholds_pkey" PRIMARY KEY ("key_id","period","start","percent")
);

-- CreateIndex
CREATE INDEX "key_spend_updated_at_idx" ON "key_spend"("updated_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_previous_hash_key" ON "api_keys"("previous_hash");

-- From here on: what schema.prisma cannot say.

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_limits_check" CHECK (
    "budget_usd" >= 0 AND "budget_usd" < 'Infinity' AND "rpm" > 0 AND "tpm" > 0 AND "cache_ttl_secs" > 0
    AND ("budget_usd" IS NULL) = ("budget_period" IS NULL)
    AND "budget_period" IN ('day', 'week', 'month', 'total')
);

-- Counts new rows by key and day, in the same way as "usage_records_count" does.
CREATE FUNCTION "usage_records_count_keys"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO "key_spend" AS spend ("key_id", "day", "requests", "cost", "updated_at")
    SELECT
        "key_id", ("created_at" AT TIME ZONE 'UTC')::DATE,
        count(*), coalesce(sum("cost"::NUMERIC), 0), clock_timestamp()
    FROM added
    WHERE "key_id" IS NOT NULL
    GROUP BY 1, 2
    ORDER BY 1, 2
    ON CONFLICT ("key_id", "day") DO UPDATE SET
        "requests" = spend."requests" + EXCLUDED."requests",
        "cost" = spend."cost" + EXCLUDED."cost",
        "updated_at" = EXCLUDED."updated_at";

    RETURN NULL;
END
$$;

-- Making a trigger keeps writers out until this migration is committed, so the rows below are all that there are. Only the
-- recorder writes rows; meanwhile they wait in its journal, and requests are served. Whatever waits for the lock of the table
-- makes later queries wait as well, so each attempt waits for at most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      CREATE TRIGGER "usage_records_counted_keys"
          AFTER INSERT ON "usage_records"
          REFERENCING NEW TABLE AS added
          FOR EACH STATEMENT EXECUTE FUNCTION "usage_records_count_keys"();
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

INSERT INTO "key_spend" ("key_id", "day", "requests", "cost", "updated_at")
SELECT
    "key_id", ("created_at" AT TIME ZONE 'UTC')::DATE,
    count(*), coalesce(sum("cost"::NUMERIC), 0), clock_timestamp()
FROM "usage_records"
WHERE "key_id" IS NOT NULL
GROUP BY 1, 2;
