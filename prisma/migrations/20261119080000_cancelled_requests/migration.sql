-- What schema.prisma cannot say: sums count requests that their clients stopped from these indexes. Few rows are in them, so that
-- they cost other rows nothing. Only writers wait while they are made.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      -- Longer than Postgres takes to stop a vacuum that is in the way. The first lock is that of settlements, which read usage
      -- rows before they write.
      SET LOCAL lock_timeout = '5s';
      PERFORM pg_advisory_xact_lock(72707370);
      LOCK TABLE "request_failures", "usage_records" IN SHARE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

CREATE INDEX "usage_records_cancelled_idx"
    ON "usage_records"("created_at", "user_id", "key_id", "group_id", "project", "model", "upstream") WHERE "status" = 499;

CREATE INDEX "request_failures_cancelled_idx" ON "request_failures"("created_at", "user_id") WHERE "status" = 499;
