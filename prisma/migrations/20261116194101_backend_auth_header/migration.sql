-- AlterTable
ALTER TABLE "backend_configs" ADD COLUMN     "auth_header" VARCHAR(160);
