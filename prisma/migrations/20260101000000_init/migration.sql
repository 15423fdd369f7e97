-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "email" VARCHAR(254) NOT NULL,
    "name" VARCHAR(200) NOT NULL DEFAULT '',
    "password_hash" TEXT NOT NULL,
    "is_admin" BOOLEAN NOT NULL DEFAULT false,
    "tier" VARCHAR(64),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refresh_tokens" (
    "token_hash" CHAR(64) NOT NULL,
    "family_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    "used_at" TIMESTAMPTZ(6),
    "revoked_at" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refresh_tokens_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "group_id" UUID,
    "name" VARCHAR(200) NOT NULL,
    "key_hash" CHAR(64) NOT NULL,
    "key_prefix" VARCHAR(8) NOT NULL,
    "key_hint" VARCHAR(64) NOT NULL,
    "project" VARCHAR(128) NOT NULL DEFAULT 'default',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(6),
    "revoked_at" TIMESTAMPTZ(6),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "groups" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "owner_id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "enforce_model_allowlist" BOOLEAN NOT NULL DEFAULT false,
    "rpm_ceiling" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "groups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "group_members" (
    "group_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" VARCHAR(16) NOT NULL DEFAULT 'member',
    "cost_multiplier" DOUBLE PRECISION NOT NULL DEFAULT 1,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "joined_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_members_pkey" PRIMARY KEY ("group_id","user_id")
);

-- CreateTable
CREATE TABLE "group_invitations" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "group_id" UUID NOT NULL,
    "token_hash" CHAR(64) NOT NULL,
    "role" VARCHAR(16) NOT NULL DEFAULT 'member',
    "email" VARCHAR(254),
    "max_uses" INTEGER NOT NULL DEFAULT 1,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "created_by" UUID,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "group_model_rules" (
    "group_id" UUID NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "rule" VARCHAR(8) NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_model_rules_pkey" PRIMARY KEY ("group_id","model")
);

-- CreateTable
CREATE TABLE "ledger_accounts" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "owner_type" VARCHAR(8) NOT NULL,
    "owner_id" UUID NOT NULL,
    "balance" BIGINT NOT NULL DEFAULT 0,
    "refused_until" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entries" (
    "id" BIGSERIAL NOT NULL,
    "account_id" UUID NOT NULL,
    "movement_id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "delta" BIGINT NOT NULL,
    "balance_after" BIGINT NOT NULL,
    "kind" VARCHAR(16) NOT NULL,
    "note" VARCHAR(500),
    "ref" VARCHAR(128),
    "idempotency_scope" VARCHAR(128),
    "idempotency_key" VARCHAR(200),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "billing_tiers" (
    "name" VARCHAR(64) NOT NULL,
    "monthly_usd_quota" DOUBLE PRECISION,
    "monthly_token_quota" BIGINT,
    "rpm" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_tiers_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "usage_records" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "api_key_id" VARCHAR(64) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "backend" VARCHAR(64) NOT NULL,
    "prompt_tokens" INTEGER NOT NULL,
    "completion_tokens" INTEGER NOT NULL,
    "total_tokens" INTEGER NOT NULL,
    "cost" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ref_id" VARCHAR(64),
    "points" INTEGER,
    "account_type" VARCHAR(8),
    "user_id" UUID NOT NULL,
    "key_id" UUID,
    "project" VARCHAR(128),
    "group_id" UUID,

    CONSTRAINT "usage_records_pkey" PRIMARY KEY ("id","created_at")
) PARTITION BY RANGE ("created_at");

-- CreateTable
CREATE TABLE "price_overrides" (
    "pattern" VARCHAR(128) NOT NULL,
    "input_per_million" DOUBLE PRECISION NOT NULL,
    "output_per_million" DOUBLE PRECISION NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "price_overrides_pkey" PRIMARY KEY ("pattern")
);

-- CreateTable
CREATE TABLE "video_pricing" (
    "model" VARCHAR(128) NOT NULL,
    "mode" VARCHAR(32) NOT NULL DEFAULT 'per_second_resolution',
    "base_price" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "price_per_second" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "price_per_frame" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "resolution_coeff" JSONB NOT NULL DEFAULT '{}',
    "currency" VARCHAR(8) NOT NULL DEFAULT 'USD',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "video_pricing_pkey" PRIMARY KEY ("model")
);

-- CreateTable
CREATE TABLE "video_jobs" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "key_id" UUID,
    "api_key_id" VARCHAR(64) NOT NULL,
    "project" VARCHAR(128),
    "group_id" UUID,
    "model" VARCHAR(128) NOT NULL,
    "resolved_model" VARCHAR(128) NOT NULL,
    "request" JSONB NOT NULL,
    "backend" VARCHAR(255),
    "submit_started_at" TIMESTAMPTZ(6),
    "upstream_task_id" VARCHAR(256),
    "status" VARCHAR(16) NOT NULL DEFAULT 'queued',
    "progress" INTEGER NOT NULL DEFAULT 0,
    "result" JSONB,
    "error" TEXT,
    "cost" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "idempotency_key" VARCHAR(200),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(6),
    "finished_at" TIMESTAMPTZ(6),

    CONSTRAINT "video_jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "video_job_images" (
    "job_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "mime_type" VARCHAR(64) NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "video_job_images_pkey" PRIMARY KEY ("job_id","position")
);

-- CreateTable
CREATE TABLE "backend_configs" (
    "name" VARCHAR(255) NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "type" VARCHAR(32) NOT NULL,
    "url" TEXT NOT NULL,
    "api_key" TEXT,
    "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "capabilities" JSONB,
    "workflow" JSONB,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "backend_configs_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "providers" (
    "id" VARCHAR(64) NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "website_domain" VARCHAR(253) NOT NULL DEFAULT '',
    "is_official" BOOLEAN NOT NULL DEFAULT false,
    "is_operator" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "providers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_nodes" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" VARCHAR(200) NOT NULL,
    "token_hash" CHAR(64) NOT NULL,
    "host" VARCHAR(255),
    "version" VARCHAR(64) NOT NULL,
    "gpus" JSONB NOT NULL DEFAULT '[]',
    "gpu_utilization" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "connected_at" TIMESTAMPTZ(6),
    "last_heartbeat_at" TIMESTAMPTZ(6),

    CONSTRAINT "agent_nodes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_models" (
    "agent_id" UUID NOT NULL,
    "model_id" VARCHAR(128) NOT NULL,
    "status" VARCHAR(16) NOT NULL,
    "port" INTEGER,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_models_pkey" PRIMARY KEY ("agent_id","model_id")
);

-- CreateTable
CREATE TABLE "conversations" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "title" VARCHAR(200) NOT NULL DEFAULT 'New Conversation',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "conversation_id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "role" VARCHAR(16) NOT NULL,
    "content" TEXT NOT NULL DEFAULT '',
    "images" JSONB,
    "tool_calls" JSONB,
    "model" VARCHAR(128),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_events" (
    "id" BIGSERIAL NOT NULL,
    "user_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" VARCHAR(16) NOT NULL,
    "node_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "detail" TEXT,

    CONSTRAINT "memory_events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "users_is_admin_created_at_idx" ON "users"("is_admin", "created_at");

-- CreateIndex
CREATE INDEX "refresh_tokens_family_id_idx" ON "refresh_tokens"("family_id");

-- CreateIndex
CREATE INDEX "refresh_tokens_user_id_idx" ON "refresh_tokens"("user_id");

-- CreateIndex
CREATE INDEX "refresh_tokens_expires_at_idx" ON "refresh_tokens"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_user_id_created_at_idx" ON "api_keys"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "api_keys_group_id_user_id_idx" ON "api_keys"("group_id", "user_id");

-- CreateIndex
CREATE INDEX "groups_owner_id_idx" ON "groups"("owner_id");

-- CreateIndex
CREATE INDEX "group_members_user_id_idx" ON "group_members"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "group_invitations_token_hash_key" ON "group_invitations"("token_hash");

-- CreateIndex
CREATE INDEX "group_invitations_group_id_idx" ON "group_invitations"("group_id");

-- CreateIndex
CREATE INDEX "group_invitations_created_by_idx" ON "group_invitations"("created_by");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_accounts_owner_type_owner_id_key" ON "ledger_accounts"("owner_type", "owner_id");

-- CreateIndex
CREATE INDEX "ledger_entries_account_id_id_idx" ON "ledger_entries"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "ledger_entries_movement_id_idx" ON "ledger_entries"("movement_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_entries_idempotency_scope_idempotency_key_key" ON "ledger_entries"("idempotency_scope", "idempotency_key");

-- CreateIndex
CREATE INDEX "usage_records_api_key_id_idx" ON "usage_records"("api_key_id");

-- CreateIndex
CREATE INDEX "usage_records_model_idx" ON "usage_records"("model");

-- CreateIndex
CREATE INDEX "usage_records_created_at_id_idx" ON "usage_records"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "usage_records_user_id_created_at_id_idx" ON "usage_records"("user_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "usage_records_user_id_project_created_at_idx" ON "usage_records"("user_id", "project", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_ref_id_created_at_idx" ON "usage_records"("ref_id", "created_at");

-- CreateIndex
CREATE INDEX "video_jobs_user_id_created_at_id_idx" ON "video_jobs"("user_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "video_jobs_status_created_at_idx" ON "video_jobs"("status", "created_at");

-- CreateIndex
CREATE INDEX "video_jobs_key_id_idx" ON "video_jobs"("key_id");

-- CreateIndex
CREATE INDEX "video_jobs_group_id_idx" ON "video_jobs"("group_id");

-- CreateIndex
CREATE UNIQUE INDEX "video_jobs_user_id_idempotency_key_key" ON "video_jobs"("user_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "backend_configs_position_key" ON "backend_configs"("position");

-- CreateIndex
CREATE UNIQUE INDEX "agent_nodes_token_hash_key" ON "agent_nodes"("token_hash");

-- CreateIndex
CREATE INDEX "agent_models_model_id_idx" ON "agent_models"("model_id");

-- CreateIndex
CREATE INDEX "conversations_user_id_updated_at_id_idx" ON "conversations"("user_id", "updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "messages_conversation_id_position_idx" ON "messages"("conversation_id", "position");

-- CreateIndex
CREATE INDEX "memory_events_user_id_id_idx" ON "memory_events"("user_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tier_fkey" FOREIGN KEY ("tier") REFERENCES "billing_tiers"("name") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "groups" ADD CONSTRAINT "groups_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_invitations" ADD CONSTRAINT "group_invitations_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_invitations" ADD CONSTRAINT "group_invitations_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_model_rules" ADD CONSTRAINT "group_model_rules_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "api_keys"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "video_job_images" ADD CONSTRAINT "video_job_images_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "video_jobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_models" ADD CONSTRAINT "agent_models_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_conversation_id_fkey" FOREIGN KEY ("conversation_id") REFERENCES "conversations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memory_events" ADD CONSTRAINT "memory_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on: what schema.prisma cannot say.

-- Rows of a month that has no partition yet go here, so that no insert ever fails for want of one.
CREATE TABLE "usage_records_default" PARTITION OF "usage_records" DEFAULT;

-- Makes the partition of a month (UTC) unless it exists. Answers whether it does now: a month whose rows already lie in
-- the default partition is left alone, because they would have to move, and so is everything where we may not make tables.
CREATE FUNCTION "usage_records_ensure_partition"("month" DATE) RETURNS BOOLEAN
LANGUAGE plpgsql
AS $$
DECLARE
    month_start CONSTANT TIMESTAMPTZ := date_trunc('month', "month"::TIMESTAMP) AT TIME ZONE 'UTC';
    month_end CONSTANT TIMESTAMPTZ := (date_trunc('month', "month"::TIMESTAMP) + INTERVAL '1 month') AT TIME ZONE 'UTC';
    partition_name CONSTANT TEXT := 'usage_records_' || to_char("month", 'YYYY_MM');
BEGIN
    IF to_regclass(partition_name) IS NOT NULL THEN
        RETURN TRUE;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('usage_records_ensure_partition', 0));
    -- Asked of the table itself, because the name look-up above may answer from a cache that is older than the lock.
    IF EXISTS (
        SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = '"usage_records"'::regclass AND c.relname = partition_name
    ) THEN
        RETURN TRUE;
    END IF;
    IF EXISTS (
        SELECT 1 FROM "usage_records_default" WHERE "created_at" >= month_start AND "created_at" < month_end
    ) THEN
        RETURN FALSE;
    END IF;
    EXECUTE format(
        'CREATE TABLE %I PARTITION OF "usage_records" FOR VALUES FROM (%L) TO (%L)',
        partition_name, month_start, month_end
    );
    RETURN TRUE;
EXCEPTION
    -- A check is violated when a row of that month reached the default partition after we looked.
    WHEN check_violation OR insufficient_privilege THEN
        RETURN FALSE;
END
$$;

ALTER TABLE "usage_records"
    ADD CONSTRAINT "usage_records_tokens_check" CHECK ("prompt_tokens" >= 0 AND "completion_tokens" >= 0 AND "total_tokens" >= 0),
    ADD CONSTRAINT "usage_records_cost_check" CHECK ("cost" >= 0),
    ADD CONSTRAINT "usage_records_points_check" CHECK ("points" >= 0),
    ADD CONSTRAINT "usage_records_account_type_check" CHECK ("account_type" IN ('user', 'group'));

ALTER TABLE "groups"
    ADD CONSTRAINT "groups_rpm_ceiling_check" CHECK ("rpm_ceiling" >= 0);

ALTER TABLE "group_members"
    ADD CONSTRAINT "group_members_role_check" CHECK ("role" IN ('admin', 'member')),
    ADD CONSTRAINT "group_members_cost_multiplier_check" CHECK ("cost_multiplier" >= 0 AND "cost_multiplier" < 'Infinity');

ALTER TABLE "group_invitations"
    ADD CONSTRAINT "group_invitations_role_check" CHECK ("role" IN ('admin', 'member')),
    ADD CONSTRAINT "group_invitations_uses_check" CHECK ("max_uses" > 0 AND "uses" >= 0 AND "uses" <= "max_uses");

ALTER TABLE "group_model_rules"
    ADD CONSTRAINT "group_model_rules_rule_check" CHECK ("rule" IN ('allow', 'deny'));

ALTER TABLE "ledger_accounts"
    ADD CONSTRAINT "ledger_accounts_owner_type_check" CHECK ("owner_type" IN ('user', 'group')),
    ADD CONSTRAINT "ledger_accounts_balance_check" CHECK ("balance" >= 0);

ALTER TABLE "ledger_entries"
    ADD CONSTRAINT "ledger_entries_delta_check" CHECK ("delta" <> 0),
    ADD CONSTRAINT "ledger_entries_balance_after_check" CHECK ("balance_after" >= 0),
    ADD CONSTRAINT "ledger_entries_kind_check" CHECK ("kind" IN ('topup', 'allocate', 'usage', 'refund')),
    ADD CONSTRAINT "ledger_entries_idempotency_check" CHECK (("idempotency_scope" IS NULL) = ("idempotency_key" IS NULL));

CREATE FUNCTION "ledger_entries_refuse_change"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'ledger entries are append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "ledger_entries_append_only"
    BEFORE UPDATE OR DELETE ON "ledger_entries"
    FOR EACH ROW EXECUTE FUNCTION "ledger_entries_refuse_change"();

ALTER TABLE "billing_tiers"
    ADD CONSTRAINT "billing_tiers_limits_check" CHECK ("monthly_usd_quota" >= 0 AND "monthly_token_quota" >= 0 AND "rpm" >= 0);

ALTER TABLE "price_overrides"
    ADD CONSTRAINT "price_overrides_prices_check" CHECK ("input_per_million" >= 0 AND "output_per_million" >= 0);

ALTER TABLE "video_pricing"
    ADD CONSTRAINT "video_pricing_mode_check" CHECK ("mode" IN ('per_call', 'per_second_resolution', 'per_frame')),
    ADD CONSTRAINT "video_pricing_prices_check" CHECK ("base_price" >= 0 AND "price_per_second" >= 0 AND "price_per_frame" >= 0);

ALTER TABLE "video_jobs"
    ADD CONSTRAINT "video_jobs_status_check" CHECK ("status" IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    ADD CONSTRAINT "video_jobs_progress_check" CHECK ("progress" BETWEEN 0 AND 100),
    ADD CONSTRAINT "video_jobs_cost_check" CHECK ("cost" >= 0);

ALTER TABLE "messages"
    ADD CONSTRAINT "messages_role_check" CHECK ("role" IN ('system', 'developer', 'user', 'assistant', 'tool'));

ALTER TABLE "memory_events"
    ADD CONSTRAINT "memory_events_kind_check" CHECK ("kind" IN ('recall', 'write', 'delete', 'error'));

INSERT INTO "billing_tiers" ("name", "monthly_usd_quota", "monthly_token_quota", "rpm") VALUES
    ('free', 1.00, 100000, 10),
    ('pro', 20.00, 5000000, 120),
    ('enterprise', NULL, NULL, 1000);
