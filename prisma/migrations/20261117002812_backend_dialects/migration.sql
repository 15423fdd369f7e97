-- AlterTable
ALTER TABLE "backend_configs" ADD COLUMN     "dialects" TEXT[] DEFAULT ARRAY[]::TEXT[];
