-- Indexes get a further column at their end, so that rows and lines with another model or project are passed over in the index and
-- not read. Everything happens in one transaction. Whoever reads must not wait while the indexes are made, so locks that keep
-- readers out come last and are held for moments; until then only writers wait. Usage waits in the recorder's journal, and requests
-- are served.

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
      LOCK TABLE "usage_records", "usage_sums" IN SHARE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

-- CreateIndex
CREATE INDEX "usage_records_user_id_created_at_id_model_idx" ON "usage_records"("user_id", "created_at" DESC, "id", "model");

CREATE INDEX "usage_sums_group_model_group_new_idx" ON "usage_sums_group_model"("group_id", "grain", "since", "model");

-- Most lines belong to no group.
CREATE INDEX "usage_sums_account_group_new_idx" ON "usage_sums_account"("group_id", "since", "project")
    WHERE "group_id" <> '00000000-0000-0000-0000-000000000000';

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP INDEX "usage_records_user_id_created_at_id_idx";
      DROP INDEX "usage_sums_group_model_group_idx";
      DROP INDEX "usage_sums_account_group_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

ALTER INDEX "usage_sums_group_model_group_new_idx" RENAME TO "usage_sums_group_model_group_idx";
ALTER INDEX "usage_sums_account_group_new_idx" RENAME TO "usage_sums_account_group_idx";
