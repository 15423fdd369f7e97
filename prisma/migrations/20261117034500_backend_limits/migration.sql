-- AlterTable
ALTER TABLE "backend_configs" ADD COLUMN     "limits" JSONB;
