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
      ALTER TABLE "usage_records" ADD COLUMN     "cached_tokens" INTEGER,
      ADD COLUMN     "first_token_ms" INTEGER,
      ADD COLUMN     "latency_ms" INTEGER,
      ADD COLUMN     "status" INTEGER,
      ADD COLUMN     "upstream" VARCHAR(255);
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;
