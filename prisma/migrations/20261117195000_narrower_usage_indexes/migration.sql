-- Indexes lose the id, which only orders rows of the same moment: Postgres sorts those few when it reads them, and each new row
-- costs less. Those of a user get the model and the key instead, so that rows with others are passed over in the index and not read.
-- Everything happens in one transaction. Whoever reads must not wait while the indexes are made, so locks that keep readers out come
-- last and are held for moments; until then only writers wait. Usage waits in the recorder's journal, and requests are served.

-- All locks that keep writers out, together: an attempt that does not get one gives all of them back, so that a writer that holds
-- one and waits for another goes on. The first is the lock of settlements, which read usage rows before they write: one that
-- waited to write would keep the indexes from being removed below.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      -- Longer than Postgres takes to stop a vacuum that is in the way.
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

-- CreateIndex
CREATE INDEX "usage_records_model_created_at_idx" ON "usage_records"("model", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_project_created_at_idx" ON "usage_records"("project", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_created_at_idx" ON "usage_records"("created_at");

-- CreateIndex
CREATE INDEX "usage_records_user_id_created_at_model_key_id_idx" ON "usage_records"("user_id", "created_at", "model", "key_id");

-- CreateIndex
CREATE INDEX "request_failures_user_id_created_at_model_idx" ON "request_failures"("user_id", "created_at", "model");

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP INDEX "request_failures_user_id_created_at_id_idx";
      DROP INDEX "usage_records_model_created_at_id_idx";
      DROP INDEX "usage_records_project_created_at_id_idx";
      DROP INDEX "usage_records_created_at_id_idx";
      DROP INDEX "usage_records_user_id_created_at_id_model_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;
