-- CreateTable
CREATE TABLE "agent_model_settings" (
    "model_id" VARCHAR(128) NOT NULL,
    "capabilities" TEXT[],
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_model_settings_pkey" PRIMARY KEY ("model_id")
);
