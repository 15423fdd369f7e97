-- AlterTable
ALTER TABLE "agent_nodes" ADD COLUMN     "process_id" UUID;

-- CreateTable
CREATE TABLE "tunnel_processes" (
    "id" UUID NOT NULL,
    "seen_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "tunnel_processes_pkey" PRIMARY KEY ("id")
);
