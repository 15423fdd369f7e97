-- AlterTable
ALTER TABLE "video_jobs" ADD COLUMN     "cancel_pending" BOOLEAN NOT NULL DEFAULT false;

-- Almost no job has it, so that only those are in the index.
CREATE INDEX "video_jobs_cancel_pending_idx" ON "video_jobs"("created_at") WHERE "cancel_pending";
