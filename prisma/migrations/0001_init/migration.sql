-- The database of the first release: what schema.prisma says, as Prisma writes it, and at the end what it cannot say.

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "email" VARCHAR(254) NOT NULL,
    "name" VARCHAR(200) NOT NULL DEFAULT '',
    "password_hash" TEXT NOT NULL,
    "is_admin" BOOLEAN NOT NULL DEFAULT false,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "tier" VARCHAR(64),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "erased_at" TIMESTAMPTZ(6),
    "provider_claim" BOOLEAN NOT NULL DEFAULT false,
    "provider_claim_by" UUID,

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
CREATE TABLE "sign_in_addresses" (
    "user_id" UUID NOT NULL,
    "address_hash" CHAR(64) NOT NULL,
    "signed_in_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "sign_in_addresses_pkey" PRIMARY KEY ("user_id","address_hash")
);

-- CreateTable
CREATE TABLE "password_resets" (
    "user_id" UUID NOT NULL,
    "token_hash" CHAR(64) NOT NULL,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    "created_by" UUID,

    CONSTRAINT "password_resets_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "provider_identities" (
    "user_id" UUID NOT NULL,
    "issuer" VARCHAR(1000) NOT NULL,
    "subject" VARCHAR(255) NOT NULL,
    "gave_role" BOOLEAN NOT NULL DEFAULT false,
    "bound_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "provider_identities_pkey" PRIMARY KEY ("user_id")
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
    "expires_at" TIMESTAMPTZ(6),
    "budget_usd" DOUBLE PRECISION,
    "budget_period" VARCHAR(8),
    "rpm" INTEGER,
    "tpm" INTEGER,
    "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "metadata" JSONB,
    "log_bodies" BOOLEAN,
    "cache_ttl_secs" INTEGER,
    "previous_hash" CHAR(64),
    "previous_until" TIMESTAMPTZ(6),

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
    "removed_user_ids" UUID[] DEFAULT ARRAY[]::UUID[],
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
    "increases" BIGINT NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account_refusals" (
    "user_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "increases" BIGINT NOT NULL,

    CONSTRAINT "account_refusals_pkey" PRIMARY KEY ("user_id","account_id")
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
    "upstream" VARCHAR(255),
    "cached_tokens" INTEGER,
    "latency_ms" INTEGER,
    "first_token_ms" INTEGER,
    "status" INTEGER,
    "cache_write_tokens" INTEGER,
    "images" INTEGER,
    "audio_seconds" DOUBLE PRECISION,
    "price" JSONB,
    "cached" BOOLEAN,
    "media_tokens" JSONB,

    CONSTRAINT "usage_records_pkey" PRIMARY KEY ("id","created_at")
) PARTITION BY RANGE ("created_at");

-- Until the recorder makes the partition of a month.
CREATE TABLE "usage_records_default" PARTITION OF "usage_records" DEFAULT;

-- CreateTable
CREATE TABLE "rejected_usage" (
    "id" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "error" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 1,
    "first_rejected_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_rejected_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rejected_usage_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_totals" (
    "user_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "month" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "tier_requests" BIGINT NOT NULL,
    "tier_cost" DECIMAL NOT NULL,
    "tier_tokens" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_totals_pkey" PRIMARY KEY ("user_id","month","project")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "key_spend" (
    "key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "key_spend_pkey" PRIMARY KEY ("key_id","day")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "budget_thresholds" (
    "key_id" UUID NOT NULL,
    "period" VARCHAR(8) NOT NULL,
    "start" DATE NOT NULL,
    "percent" INTEGER NOT NULL,
    "budget_usd" DOUBLE PRECISION NOT NULL,
    "spent_usd" DOUBLE PRECISION NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(6),

    CONSTRAINT "budget_thresholds_pkey" PRIMARY KEY ("key_id","period","start","percent")
);

-- CreateTable
CREATE TABLE "usage_by_model_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_model_hour_pkey" PRIMARY KEY ("since","model","upstream","surface")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_model_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_model_day_pkey" PRIMARY KEY ("since","model","upstream","surface")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_account_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_account_hour_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_account_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_account_day_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_all_hour" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_all_hour_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project","model","upstream")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_all_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "project" VARCHAR(128) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_all_day_pkey" PRIMARY KEY ("since","user_id","key_id","group_id","project","model","upstream")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "usage_by_ref_day" (
    "since" TIMESTAMPTZ(6) NOT NULL,
    "ref_id" VARCHAR(64) NOT NULL,
    "model" VARCHAR(128) NOT NULL,
    "surface" VARCHAR(64) NOT NULL,
    "requests" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "cancelled" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "failed_cancelled" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "cost" DECIMAL NOT NULL,
    "points" BIGINT NOT NULL,

    CONSTRAINT "usage_by_ref_day_pkey" PRIMARY KEY ("since","ref_id","model","surface")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "request_log_state" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "kept_since" TIMESTAMPTZ(6),

    CONSTRAINT "request_log_state_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_failures" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "key_id" UUID,
    "group_id" UUID,
    "api_key_id" VARCHAR(64) NOT NULL,
    "project" VARCHAR(128),
    "backend" VARCHAR(64) NOT NULL,
    "model" VARCHAR(128),
    "counted_model" VARCHAR(128) NOT NULL,
    "upstream" VARCHAR(255),
    "ref_id" VARCHAR(64),
    "latency_ms" INTEGER,
    "status" INTEGER NOT NULL,
    "error_code" VARCHAR(64) NOT NULL,
    "error" VARCHAR(1000) NOT NULL,
    "request_id" VARCHAR(128),
    "attempts" JSONB,
    "repeats" INTEGER NOT NULL,

    CONSTRAINT "request_failures_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_details" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "request_id" VARCHAR(128),
    "attempts" JSONB,

    CONSTRAINT "request_details_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_bodies" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    "user_id" UUID NOT NULL,
    "request" TEXT,
    "answer" TEXT,

    CONSTRAINT "request_bodies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "route_rules" (
    "model" VARCHAR(128) NOT NULL,
    "rule" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_rules_pkey" PRIMARY KEY ("model")
);

-- CreateTable
CREATE TABLE "file_entries" (
    "section" VARCHAR(16) NOT NULL,
    "name" TEXT NOT NULL,
    "hash" VARCHAR(64) NOT NULL,
    "target" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "file_entries_pkey" PRIMARY KEY ("section","name")
);

-- CreateTable
CREATE TABLE "price_overrides" (
    "source" VARCHAR(16) NOT NULL DEFAULT 'override',
    "backend" VARCHAR(255) NOT NULL DEFAULT '',
    "pattern" VARCHAR(128) NOT NULL,
    "input_per_million" DOUBLE PRECISION NOT NULL,
    "output_per_million" DOUBLE PRECISION NOT NULL,
    "cached_input_per_million" DOUBLE PRECISION,
    "cache_write_per_million" DOUBLE PRECISION,
    "audio_input_per_million" DOUBLE PRECISION,
    "audio_output_per_million" DOUBLE PRECISION,
    "cached_audio_input_per_million" DOUBLE PRECISION,
    "image_output_per_million" DOUBLE PRECISION,
    "per_image" DOUBLE PRECISION,
    "per_minute_audio" DOUBLE PRECISION,
    "per_request" DOUBLE PRECISION,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "price_overrides_pkey" PRIMARY KEY ("source","backend","pattern")
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
    "cost_multiplier" DOUBLE PRECISION NOT NULL DEFAULT 1,
    "model" VARCHAR(128) NOT NULL,
    "resolved_model" VARCHAR(128) NOT NULL,
    "served_model" VARCHAR(128),
    "request" JSONB NOT NULL,
    "backend" VARCHAR(255),
    "submit_started_at" TIMESTAMPTZ(6),
    "upstream_task_id" VARCHAR(256),
    "status" VARCHAR(16) NOT NULL DEFAULT 'queued',
    "progress" INTEGER NOT NULL DEFAULT 0,
    "result" JSONB,
    "error" TEXT,
    "cost" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "polled_at" TIMESTAMPTZ(6),
    "cancel_pending" BOOLEAN NOT NULL DEFAULT false,
    "idempotency_key" VARCHAR(200),
    "order_hash" VARCHAR(64),
    "allowed_models" JSONB,
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
    "api_keys" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "auth_header" VARCHAR(160),
    "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "capabilities" JSONB,
    "dialects" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "limits" JSONB,
    "workflow" JSONB,
    "agent_id" UUID,
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
    "hosts" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "version" VARCHAR(64) NOT NULL,
    "gpus" JSONB NOT NULL DEFAULT '[]',
    "gpu_utilization" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "connected_at" TIMESTAMPTZ(6),
    "last_heartbeat_at" TIMESTAMPTZ(6),
    "connection_id" UUID,
    "process_id" UUID,

    CONSTRAINT "agent_nodes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tunnel_processes" (
    "id" UUID NOT NULL,
    "seen_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "tunnel_processes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_deployments" (
    "agent_id" UUID NOT NULL,
    "model_id" VARCHAR(128) NOT NULL,
    "deployed_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_deployments_pkey" PRIMARY KEY ("agent_id","model_id")
);

-- CreateTable
CREATE TABLE "agent_models" (
    "agent_id" UUID NOT NULL,
    "model_id" VARCHAR(128) NOT NULL,
    "status" VARCHAR(16) NOT NULL,
    "port" INTEGER,
    "url" TEXT,
    "ready_at" TIMESTAMPTZ(6),
    "streams" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_models_pkey" PRIMARY KEY ("agent_id","model_id")
);

-- CreateTable
CREATE TABLE "agent_model_settings" (
    "model_id" VARCHAR(128) NOT NULL,
    "capabilities" TEXT[],
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_model_settings_pkey" PRIMARY KEY ("model_id")
);

-- CreateTable
CREATE TABLE "conversations" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "title" VARCHAR(200) NOT NULL DEFAULT 'New Conversation',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "conversation_id" UUID NOT NULL,
    "turn" BIGSERIAL NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "role" VARCHAR(16) NOT NULL,
    "content" TEXT NOT NULL DEFAULT '',
    "images" JSONB,
    "tool_calls" JSONB,
    "extra" JSONB,
    "model" VARCHAR(128),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- What a message takes of what its user may store.
ALTER TABLE "messages" ADD COLUMN "bytes" INTEGER NOT NULL GENERATED ALWAYS AS (((octet_length(content) + COALESCE(octet_length((images)::text), 0)) + COALESCE(octet_length((tool_calls)::text), 0)) + COALESCE(octet_length((extra)::text), 0)) STORED;

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

-- CreateTable
CREATE TABLE "stored_responses" (
    "id" VARCHAR(64) NOT NULL,
    "user_id" UUID NOT NULL,
    "previous_id" VARCHAR(128),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    "input" TEXT NOT NULL,
    "response" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "input_items" INTEGER NOT NULL,
    "output_items" INTEGER NOT NULL,
    "largest_input_bytes" INTEGER NOT NULL,
    "largest_output_bytes" INTEGER NOT NULL,

    CONSTRAINT "stored_responses_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "stored_bytes" (
    "user_id" UUID NOT NULL,
    "conversations" BIGINT NOT NULL DEFAULT 0,
    "responses" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "stored_bytes_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "group_id" UUID,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "format" VARCHAR(16) NOT NULL,
    "secret" TEXT NOT NULL,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outbox_events" (
    "id" UUID NOT NULL,
    "key" VARCHAR(300) NOT NULL,
    "type" VARCHAR(32) NOT NULL,
    "group_id" UUID,
    "user_id" UUID,
    "webhook_id" UUID,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(6),

    CONSTRAINT "outbox_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_deliveries" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "event_id" UUID NOT NULL,
    "webhook_id" UUID,
    "user_id" UUID,
    "status" VARCHAR(16) NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "last_attempt_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "error" VARCHAR(300),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "event_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "reported_states" (
    "subject" VARCHAR(300) NOT NULL,
    "state" VARCHAR(16) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reported_states_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "users_is_admin_created_at_idx" ON "users"("is_admin", "created_at");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at", "id");

-- CreateIndex
CREATE INDEX "refresh_tokens_family_id_revoked_at_idx" ON "refresh_tokens"("family_id", "revoked_at");

-- CreateIndex
CREATE INDEX "refresh_tokens_user_id_idx" ON "refresh_tokens"("user_id");

-- CreateIndex
CREATE INDEX "refresh_tokens_expires_at_idx" ON "refresh_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_addresses_signed_in_at_idx" ON "sign_in_addresses"("signed_in_at");

-- CreateIndex
CREATE UNIQUE INDEX "password_resets_token_hash_key" ON "password_resets"("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "provider_identities_issuer_subject_key" ON "provider_identities"("issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_previous_hash_key" ON "api_keys"("previous_hash");

-- CreateIndex
CREATE INDEX "api_keys_user_id_created_at_idx" ON "api_keys"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "api_keys_user_id_revoked_at_idx" ON "api_keys"("user_id", "revoked_at");

-- CreateIndex
CREATE INDEX "api_keys_group_id_user_id_idx" ON "api_keys"("group_id", "user_id");

-- CreateIndex
CREATE INDEX "groups_owner_id_idx" ON "groups"("owner_id");

-- CreateIndex
CREATE INDEX "groups_created_at_id_idx" ON "groups"("created_at", "id");

-- CreateIndex
CREATE INDEX "group_members_user_id_idx" ON "group_members"("user_id");

-- CreateIndex
CREATE INDEX "group_members_group_id_joined_at_user_id_idx" ON "group_members"("group_id", "joined_at", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "group_invitations_token_hash_key" ON "group_invitations"("token_hash");

-- CreateIndex
CREATE INDEX "group_invitations_group_id_idx" ON "group_invitations"("group_id");

-- CreateIndex
CREATE INDEX "group_invitations_created_by_idx" ON "group_invitations"("created_by");

-- CreateIndex
CREATE INDEX "ledger_accounts_updated_at_idx" ON "ledger_accounts"("updated_at");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_accounts_owner_type_owner_id_key" ON "ledger_accounts"("owner_type", "owner_id");

-- CreateIndex
CREATE INDEX "account_refusals_account_id_idx" ON "account_refusals"("account_id");

-- CreateIndex
CREATE INDEX "ledger_entries_account_id_id_idx" ON "ledger_entries"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "ledger_entries_movement_id_idx" ON "ledger_entries"("movement_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_entries_idempotency_scope_idempotency_key_key" ON "ledger_entries"("idempotency_scope", "idempotency_key");

-- CreateIndex
CREATE INDEX "audit_entries_actor_id_seq_idx" ON "audit_entries"("actor_id", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_action_seq_idx" ON "audit_entries"("action", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_target_seq_idx" ON "audit_entries"("target", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_at_idx" ON "audit_entries"("at");

-- CreateIndex
CREATE INDEX "usage_records_api_key_id_idx" ON "usage_records" USING BRIN ("api_key_id");

-- CreateIndex
CREATE INDEX "usage_records_model_created_at_idx" ON "usage_records"("model", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_project_created_at_idx" ON "usage_records"("project", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_created_at_idx" ON "usage_records"("created_at");

-- CreateIndex
CREATE INDEX "usage_records_user_id_created_at_model_key_id_idx" ON "usage_records"("user_id", "created_at", "model", "key_id");

-- CreateIndex
CREATE INDEX "usage_records_user_id_project_created_at_idx" ON "usage_records"("user_id", "project", "created_at");

-- CreateIndex
CREATE INDEX "usage_records_upstream_created_at_idx" ON "usage_records"("upstream", "created_at");

-- CreateIndex
CREATE INDEX "usage_totals_month_updated_at_idx" ON "usage_totals"("month", "updated_at");

-- CreateIndex
CREATE INDEX "key_spend_updated_at_idx" ON "key_spend"("updated_at");

-- CreateIndex
CREATE INDEX "budget_thresholds_published_at_idx" ON "budget_thresholds"("published_at");

-- CreateIndex
CREATE INDEX "usage_by_account_hour_user_id_since_idx" ON "usage_by_account_hour"("user_id", "since");

-- CreateIndex
CREATE INDEX "usage_by_account_day_user_id_since_idx" ON "usage_by_account_day"("user_id", "since");

-- CreateIndex
CREATE INDEX "usage_by_all_hour_user_id_since_idx" ON "usage_by_all_hour"("user_id", "since");

-- CreateIndex
CREATE INDEX "usage_by_all_day_user_id_since_idx" ON "usage_by_all_day"("user_id", "since");

-- CreateIndex
CREATE INDEX "usage_by_ref_day_ref_id_since_idx" ON "usage_by_ref_day"("ref_id", "since");

-- CreateIndex
CREATE INDEX "request_failures_model_created_at_id_idx" ON "request_failures"("model", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_project_created_at_id_idx" ON "request_failures"("project", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_created_at_id_idx" ON "request_failures"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "request_failures_user_id_created_at_model_idx" ON "request_failures"("user_id", "created_at", "model");

-- CreateIndex
CREATE INDEX "request_details_created_at_idx" ON "request_details"("created_at");

-- CreateIndex
CREATE INDEX "request_details_user_id_idx" ON "request_details"("user_id");

-- CreateIndex
CREATE INDEX "request_bodies_created_at_idx" ON "request_bodies"("created_at");

-- CreateIndex
CREATE INDEX "request_bodies_user_id_idx" ON "request_bodies"("user_id");

-- CreateIndex
CREATE INDEX "video_jobs_user_id_created_at_id_idx" ON "video_jobs"("user_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "video_jobs_user_id_status_idx" ON "video_jobs"("user_id", "status");

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
CREATE INDEX "backend_configs_agent_id_idx" ON "backend_configs"("agent_id");

-- CreateIndex
CREATE INDEX "providers_name_id_idx" ON "providers"("name", "id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_nodes_token_hash_key" ON "agent_nodes"("token_hash");

-- CreateIndex
CREATE INDEX "agent_nodes_name_created_at_id_idx" ON "agent_nodes"("name", "created_at", "id");

-- CreateIndex
CREATE INDEX "agent_models_model_id_idx" ON "agent_models"("model_id");

-- CreateIndex
CREATE INDEX "conversations_user_id_updated_at_id_idx" ON "conversations"("user_id", "updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "messages_conversation_id_turn_position_idx" ON "messages"("conversation_id", "turn", "position");

-- CreateIndex
CREATE INDEX "memory_events_user_id_id_idx" ON "memory_events"("user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "stored_responses_user_id_created_at_idx" ON "stored_responses"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "stored_responses_expires_at_idx" ON "stored_responses"("expires_at");

-- CreateIndex
CREATE INDEX "webhooks_group_id_idx" ON "webhooks"("group_id");

-- CreateIndex
CREATE INDEX "webhooks_created_by_idx" ON "webhooks"("created_by");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_events_key_key" ON "outbox_events"("key");

-- CreateIndex
CREATE INDEX "outbox_events_published_at_created_at_idx" ON "outbox_events"("published_at", "created_at");

-- CreateIndex
CREATE INDEX "event_deliveries_status_next_attempt_at_idx" ON "event_deliveries"("status", "next_attempt_at");

-- CreateIndex
CREATE INDEX "event_deliveries_webhook_id_status_idx" ON "event_deliveries"("webhook_id", "status");

-- CreateIndex
CREATE INDEX "event_deliveries_webhook_id_created_at_id_idx" ON "event_deliveries"("webhook_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "event_deliveries_user_id_idx" ON "event_deliveries"("user_id");

-- CreateIndex
CREATE INDEX "event_deliveries_finished_at_idx" ON "event_deliveries"("finished_at");

-- CreateIndex
CREATE UNIQUE INDEX "event_deliveries_event_id_webhook_id_key" ON "event_deliveries"("event_id", "webhook_id");

-- CreateIndex
CREATE UNIQUE INDEX "event_deliveries_event_id_user_id_key" ON "event_deliveries"("event_id", "user_id");

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tier_fkey" FOREIGN KEY ("tier") REFERENCES "billing_tiers"("name") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_addresses" ADD CONSTRAINT "sign_in_addresses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_identities" ADD CONSTRAINT "provider_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
ALTER TABLE "account_refusals" ADD CONSTRAINT "account_refusals_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
ALTER TABLE "backend_configs" ADD CONSTRAINT "backend_configs_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_deployments" ADD CONSTRAINT "agent_deployments_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_models" ADD CONSTRAINT "agent_models_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_conversation_id_fkey" FOREIGN KEY ("conversation_id") REFERENCES "conversations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memory_events" ADD CONSTRAINT "memory_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stored_responses" ADD CONSTRAINT "stored_responses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stored_bytes" ADD CONSTRAINT "stored_bytes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "outbox_events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_limits_check" CHECK (((budget_usd >= (0)::double precision) AND (budget_usd < 'Infinity'::double precision) AND (rpm > 0) AND (tpm > 0) AND (cache_ttl_secs > 0) AND ((budget_usd IS NULL) = (budget_period IS NULL)) AND (budget_period IN ('day', 'week', 'month', 'total'))));
ALTER TABLE "billing_tiers" ADD CONSTRAINT "billing_tiers_limits_check" CHECK (((monthly_usd_quota >= (0)::double precision) AND (monthly_token_quota >= 0) AND (rpm >= 0)));
ALTER TABLE "group_invitations" ADD CONSTRAINT "group_invitations_role_check" CHECK ((role IN ('admin', 'member')));
ALTER TABLE "group_invitations" ADD CONSTRAINT "group_invitations_uses_check" CHECK (((max_uses > 0) AND (uses >= 0) AND (uses <= max_uses)));
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_cost_multiplier_check" CHECK (((cost_multiplier >= (0)::double precision) AND (cost_multiplier < 'Infinity'::double precision)));
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_role_check" CHECK ((role IN ('admin', 'member')));
ALTER TABLE "group_model_rules" ADD CONSTRAINT "group_model_rules_rule_check" CHECK ((rule IN ('allow', 'deny')));
ALTER TABLE "groups" ADD CONSTRAINT "groups_rpm_ceiling_check" CHECK ((rpm_ceiling >= 0));
ALTER TABLE "ledger_accounts" ADD CONSTRAINT "ledger_accounts_balance_check" CHECK ((balance >= 0));
ALTER TABLE "ledger_accounts" ADD CONSTRAINT "ledger_accounts_owner_type_check" CHECK ((owner_type IN ('user', 'group')));
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_balance_after_check" CHECK ((balance_after >= 0));
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_delta_check" CHECK ((delta <> 0));
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_idempotency_check" CHECK (((idempotency_scope IS NULL) = (idempotency_key IS NULL)));
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_kind_check" CHECK ((kind IN ('topup', 'allocate', 'usage', 'refund')));
ALTER TABLE "memory_events" ADD CONSTRAINT "memory_events_kind_check" CHECK ((kind IN ('recall', 'write', 'delete', 'error')));
ALTER TABLE "messages" ADD CONSTRAINT "messages_role_check" CHECK ((role IN ('system', 'developer', 'user', 'assistant', 'tool')));
ALTER TABLE "price_overrides" ADD CONSTRAINT "price_overrides_prices_check" CHECK (((input_per_million >= (0)::double precision) AND (output_per_million >= (0)::double precision) AND (cached_input_per_million >= (0)::double precision) AND (cache_write_per_million >= (0)::double precision) AND (per_image >= (0)::double precision) AND (per_minute_audio >= (0)::double precision) AND (per_request >= (0)::double precision)));
ALTER TABLE "price_overrides" ADD CONSTRAINT "price_overrides_source_check" CHECK ((((source)::text = 'override'::text) OR (((source)::text = 'catalogue'::text) AND ((backend)::text = ''::text))));
ALTER TABLE "request_failures" ADD CONSTRAINT "request_failures_repeats_check" CHECK ((repeats > 0));
ALTER TABLE "request_log_state" ADD CONSTRAINT "request_log_state_id_check" CHECK ((id = 1));
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_account_type_check" CHECK ((account_type IN ('user', 'group')));
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_cost_check" CHECK (((cost >= (0)::double precision) AND (cost < 'Infinity'::double precision)));
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_points_check" CHECK ((points >= 0));
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_tokens_check" CHECK (((prompt_tokens >= 0) AND (completion_tokens >= 0) AND (total_tokens >= 0)));
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_cost_check" CHECK ((cost >= (0)::double precision));
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_progress_check" CHECK (((progress >= 0) AND (progress <= 100)));
ALTER TABLE "video_jobs" ADD CONSTRAINT "video_jobs_status_check" CHECK ((status IN ('queued', 'running', 'done', 'failed', 'cancelled')));
ALTER TABLE "video_pricing" ADD CONSTRAINT "video_pricing_mode_check" CHECK ((mode IN ('per_call', 'per_second_resolution', 'per_frame')));
ALTER TABLE "video_pricing" ADD CONSTRAINT "video_pricing_prices_check" CHECK (((base_price >= (0)::double precision) AND (price_per_second >= (0)::double precision) AND (price_per_frame >= (0)::double precision)));

CREATE INDEX request_details_request_id_idx ON request_details USING btree (request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX request_failures_group_idx ON request_failures USING btree (group_id, created_at DESC, id) WHERE (group_id IS NOT NULL);
CREATE INDEX request_failures_request_id_idx ON request_failures USING btree (request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX usage_by_account_day_group_idx ON usage_by_account_day USING btree (group_id, since) WHERE (group_id <> '00000000-0000-0000-0000-000000000000'::uuid);
CREATE INDEX usage_by_account_hour_group_idx ON usage_by_account_hour USING btree (group_id, since) WHERE (group_id <> '00000000-0000-0000-0000-000000000000'::uuid);
CREATE INDEX usage_by_all_day_group_idx ON usage_by_all_day USING btree (group_id, since) WHERE (group_id <> '00000000-0000-0000-0000-000000000000'::uuid);
CREATE INDEX usage_by_all_hour_group_idx ON usage_by_all_hour USING btree (group_id, since) WHERE (group_id <> '00000000-0000-0000-0000-000000000000'::uuid);
CREATE INDEX usage_records_errors_idx ON usage_records USING btree (created_at, group_id, model) WHERE (status >= 400);
CREATE INDEX usage_records_group_id_created_at_idx ON usage_records USING btree (group_id, created_at) WHERE (group_id IS NOT NULL);
CREATE INDEX usage_records_key_id_created_at_idx ON usage_records USING btree (key_id, created_at) WHERE (key_id IS NOT NULL);
CREATE INDEX usage_records_ref_id_created_at_idx ON usage_records USING btree (ref_id, created_at) WHERE (ref_id IS NOT NULL);
CREATE INDEX video_jobs_cancel_pending_idx ON video_jobs USING btree (created_at) WHERE cancel_pending;

CREATE FUNCTION audit_entries_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE FUNCTION conversations_release_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE "stored_bytes" SET "conversations" = "conversations" - sizes.bytes
    FROM (SELECT "user_id", sum("bytes") AS bytes FROM removed GROUP BY "user_id") AS sizes
    WHERE "stored_bytes"."user_id" = sizes."user_id";
    RETURN NULL;
END
$$;

CREATE FUNCTION ledger_accounts_note_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    NEW."version" := OLD."version" + 1;
    NEW."updated_at" := clock_timestamp();
    IF NEW."balance" > OLD."balance" THEN
        NEW."increases" := OLD."increases" + 1;
        DELETE FROM "account_refusals" WHERE "account_id" = OLD."id";
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION ledger_entries_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'ledger entries are append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE FUNCTION messages_count_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    WITH grown AS (
        UPDATE "conversations" SET "bytes" = "conversations"."bytes" + sizes.bytes
        FROM (SELECT "conversation_id", sum("bytes") AS bytes FROM added GROUP BY "conversation_id") AS sizes
        WHERE "id" = sizes."conversation_id"
        RETURNING "user_id", sizes.bytes
    )
    INSERT INTO "stored_bytes" ("user_id", "conversations")
    SELECT "user_id", sum(bytes) FROM grown GROUP BY "user_id"
    ON CONFLICT ("user_id") DO UPDATE
    SET "conversations" = "stored_bytes"."conversations" + EXCLUDED."conversations";
    RETURN NULL;
END
$$;

CREATE FUNCTION stored_responses_count_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO "stored_bytes" ("user_id", "responses")
    SELECT "user_id", sum("bytes") FROM added GROUP BY "user_id"
    ON CONFLICT ("user_id") DO UPDATE
    SET "responses" = "stored_bytes"."responses" + EXCLUDED."responses";
    RETURN NULL;
END
$$;

CREATE FUNCTION stored_responses_release_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    -- Expired responses of several users are deleted together: the order avoids deadlocks.
    PERFORM 1 FROM "stored_bytes" WHERE "user_id" IN (SELECT "user_id" FROM removed) ORDER BY "user_id" FOR UPDATE;
    UPDATE "stored_bytes" SET "responses" = "responses" - sizes.bytes
    FROM (
        SELECT "user_id", sum("bytes") AS bytes
        FROM removed GROUP BY "user_id"
    ) AS sizes
    WHERE "stored_bytes"."user_id" = sizes."user_id";
    RETURN NULL;
END
$$;

CREATE FUNCTION usage_records_ensure_partition(month date)
 RETURNS boolean
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

CREATE TRIGGER audit_entries_append_only BEFORE DELETE OR UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION audit_entries_refuse_change();
CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_refuse_change();
CREATE TRIGGER conversations_bytes_released AFTER DELETE ON conversations REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION conversations_release_bytes();
CREATE TRIGGER ledger_accounts_noted BEFORE UPDATE ON ledger_accounts FOR EACH ROW EXECUTE FUNCTION ledger_accounts_note_change();
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE ON ledger_entries FOR EACH ROW EXECUTE FUNCTION ledger_entries_refuse_change();
CREATE TRIGGER messages_bytes_counted AFTER INSERT ON messages REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION messages_count_bytes();
CREATE TRIGGER stored_responses_bytes_counted AFTER INSERT ON stored_responses REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stored_responses_count_bytes();
CREATE TRIGGER stored_responses_bytes_released AFTER DELETE ON stored_responses REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION stored_responses_release_bytes();

INSERT INTO "billing_tiers" ("name", "monthly_usd_quota", "monthly_token_quota", "rpm") VALUES
    ('free', 1, 100000, 10),
    ('pro', 20, 5000000, 120),
    ('enterprise', NULL, NULL, 1000);

INSERT INTO "request_log_state" ("id") VALUES (1);
