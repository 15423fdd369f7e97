-- CreateIndex
CREATE INDEX "api_keys_user_id_revoked_at_idx" ON "api_keys"("user_id", "revoked_at");

-- CreateIndex
CREATE INDEX "video_jobs_user_id_status_idx" ON "video_jobs"("user_id", "status");
