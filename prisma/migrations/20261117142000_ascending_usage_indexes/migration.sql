-- Everything happens in one transaction. Whoever reads must not wait while the indexes are made, so locks that keep readers out
-- come last and are held for moments; until then only writers wait. Usage waits in the recorder's journal, and requests are served.

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
      LOCK TABLE "usage_records" IN SHARE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

-- Queries read these indexes backwards. New rows are at the end, where Postgres fills whole pages: at the beginning it leaves half of
-- them empty.

-- CreateIndex
CREATE INDEX "usage_records_model_created_at_id_new_idx" ON "usage_records"("model", "created_at", "id" DESC);

-- CreateIndex
CREATE INDEX "usage_records_project_created_at_id_new_idx" ON "usage_records"("project", "created_at", "id" DESC);

-- CreateIndex
CREATE INDEX "usage_records_created_at_id_new_idx" ON "usage_records"("created_at", "id" DESC);

-- What schema.prisma cannot say: few rows have a reference, so that this costs other rows nothing.
CREATE INDEX "usage_records_ref_id_created_at_new_idx" ON "usage_records"("ref_id", "created_at") WHERE "ref_id" IS NOT NULL;

-- Lines are updated many times: with room in their page, an update changes no index.
ALTER TABLE "usage_totals" SET (fillfactor = 80);
ALTER TABLE "key_spend" SET (fillfactor = 80);

-- What readers wait for. Whatever waits for the lock of a table makes later queries wait as well, so each attempt waits for at
-- most a second.
DO $$
DECLARE
  earlier_timeout text := current_setting('lock_timeout');
BEGIN
  FOR attempt IN 1..60 LOOP
    BEGIN
      SET LOCAL lock_timeout = '1s';
      DROP INDEX "usage_records_model_created_at_id_idx";
      DROP INDEX "usage_records_project_created_at_id_idx";
      DROP INDEX "usage_records_created_at_id_idx";
      DROP INDEX "usage_records_ref_id_created_at_idx";
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF attempt = 60 THEN RAISE; END IF;
      PERFORM pg_sleep(1);
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', earlier_timeout, true);
END $$;

ALTER INDEX "usage_records_model_created_at_id_new_idx" RENAME TO "usage_records_model_created_at_id_idx";
ALTER INDEX "usage_records_project_created_at_id_new_idx" RENAME TO "usage_records_project_created_at_id_idx";
ALTER INDEX "usage_records_created_at_id_new_idx" RENAME TO "usage_records_created_at_id_idx";
ALTER INDEX "usage_records_ref_id_created_at_new_idx" RENAME TO "usage_records_ref_id_created_at_idx";
