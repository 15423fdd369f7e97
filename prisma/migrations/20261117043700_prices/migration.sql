-- AlterTable
-- Columns without a default change only the catalog: no row is written. Whatever waits for the lock of the table makes later
-- queries wait as well, so each attempt waits for at most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      ALTER TABLE "usage_records" ADD COLUMN     "audio_seconds" DOUBLE PRECISION,
      ADD COLUMN     "cache_write_tokens" INTEGER,
      ADD COLUMN     "cached" BOOLEAN,
      ADD COLUMN     "images" INTEGER,
      ADD COLUMN     "price" JSONB;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

-- AlterTable
ALTER TABLE "price_overrides" DROP CONSTRAINT "price_overrides_pkey",
ADD COLUMN     "backend" VARCHAR(255) NOT NULL DEFAULT '',
ADD COLUMN     "cache_write_per_million" DOUBLE PRECISION,
ADD COLUMN     "cached_input_per_million" DOUBLE PRECISION,
ADD COLUMN     "per_image" DOUBLE PRECISION,
ADD COLUMN     "per_minute_audio" DOUBLE PRECISION,
ADD COLUMN     "per_request" DOUBLE PRECISION,
ADD COLUMN     "source" VARCHAR(16) NOT NULL DEFAULT 'override',
ADD CONSTRAINT "price_overrides_pkey" PRIMARY KEY ("source", "backend", "pattern");

-- The prices of a catalogue are for every backend.
ALTER TABLE "price_overrides"
    DROP CONSTRAINT "price_overrides_prices_check",
    ADD CONSTRAINT "price_overrides_prices_check" CHECK (
        "input_per_million" >= 0 AND "output_per_million" >= 0 AND "cached_input_per_million" >= 0
        AND "cache_write_per_million" >= 0 AND "per_image" >= 0 AND "per_minute_audio" >= 0 AND "per_request" >= 0
    ),
    ADD CONSTRAINT "price_overrides_source_check" CHECK (
        "source" = 'override' OR ("source" = 'catalogue' AND "backend" = '')
    );
