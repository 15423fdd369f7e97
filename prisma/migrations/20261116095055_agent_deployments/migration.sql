-- AlterTable
ALTER TABLE "agent_nodes" ADD COLUMN     "hosts" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "agent_deployments" (
    "agent_id" UUID NOT NULL,
    "model_id" VARCHAR(128) NOT NULL,
    "deployed_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_deployments_pkey" PRIMARY KEY ("agent_id","model_id")
);

-- AddForeignKey
ALTER TABLE "agent_deployments" ADD CONSTRAINT "agent_deployments_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Models that nodes serve at the upgrade stay in service, also those that no admin deployed: these cannot be told apart.
INSERT INTO "agent_deployments" ("agent_id", "model_id", "deployed_at")
SELECT "agent_id", "model_id", COALESCE("ready_at", "updated_at") FROM "agent_models" WHERE "status" = 'ready';
