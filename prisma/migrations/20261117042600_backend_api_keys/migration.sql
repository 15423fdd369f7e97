-- AlterTable
ALTER TABLE "backend_configs" ADD COLUMN     "api_keys" TEXT[] DEFAULT ARRAY[]::TEXT[];
