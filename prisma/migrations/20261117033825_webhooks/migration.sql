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
CREATE INDEX "budget_thresholds_published_at_idx" ON "budget_thresholds"("published_at");

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
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "outbox_events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
