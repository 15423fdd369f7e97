-- CreateTable
CREATE TABLE "audit_entries" (
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor" VARCHAR(16) NOT NULL,
    "actor_id" UUID,
    "action" VARCHAR(128) NOT NULL,
    "target" VARCHAR(512),
    "before" TEXT,
    "after" TEXT,
    "client_ip" VARCHAR(64) NOT NULL,
    "request_id" VARCHAR(128) NOT NULL,
    "previous_hash" CHAR(64) NOT NULL,
    "hash" CHAR(64) NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("seq")
);

-- CreateIndex
CREATE INDEX "audit_entries_actor_id_seq_idx" ON "audit_entries"("actor_id", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_action_seq_idx" ON "audit_entries"("action", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_target_seq_idx" ON "audit_entries"("target", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_at_idx" ON "audit_entries"("at");

CREATE FUNCTION "audit_entries_refuse_change"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "audit_entries_append_only"
    BEFORE UPDATE OR DELETE ON "audit_entries"
    FOR EACH ROW EXECUTE FUNCTION "audit_entries_refuse_change"();

CREATE TRIGGER "audit_entries_no_truncate"
    BEFORE TRUNCATE ON "audit_entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "audit_entries_refuse_change"();
