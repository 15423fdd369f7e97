-- CreateIndex
CREATE INDEX "request_failures_model_created_at_id_idx" ON "request_failures"("model", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_project_created_at_id_idx" ON "request_failures"("project", "created_at" DESC, "id");
