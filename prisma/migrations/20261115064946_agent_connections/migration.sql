-- AlterTable
ALTER TABLE "backend_configs" ADD COLUMN     "agent_id" UUID;

-- AlterTable
ALTER TABLE "agent_nodes" ADD COLUMN     "connection_id" UUID;

-- AlterTable
ALTER TABLE "agent_models" ADD COLUMN     "ready_at" TIMESTAMPTZ(6),
ADD COLUMN     "streams" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "url" TEXT;

-- CreateIndex
CREATE INDEX "backend_configs_agent_id_idx" ON "backend_configs"("agent_id");

-- AddForeignKey
ALTER TABLE "backend_configs" ADD CONSTRAINT "backend_configs_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;
