-- The index of errors loses the id, and gets the group and the model, so that errors of others are passed over in the index and not
-- read. Everything happens in one transaction. Whoever reads must not wait while the index is made, so the lock that keeps readers
-- out comes last and is held for moments; until then only writers wait. Usage waits in the recorder's journal, and requests are
-- served.

-- All locks that keep writers out, together: an attempt that does not get one gives all of them back, so that a writer that holds
-- one and waits for another goes on. The first is the lock of settlements, which read usage rows before they write: one that
-- waited to write would keep the index from being removed below.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      -- Longer than Postgres takes to stop a vacuum that is in the way.
      SET LOCAL lock_timeout = '5s';
      PERFORM pg_advisory_xact_lock(72707370);
      LOCK TABLE "usage_records" IN SHARE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

-- What schema.prisma cannot say: few rows are errors, so that this costs other rows nothing.
CREATE INDEX "usage_records_errors_new_idx" ON "usage_records"("created_at", "group_id", "model") WHERE "status" >= 400;

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP INDEX "usage_records_errors_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

ALTER INDEX "usage_records_errors_new_idx" RENAME TO "usage_records_errors_idx";
