-- AlterTable
ALTER TABLE "video_jobs" ADD COLUMN     "allowed_models" JSONB,
ADD COLUMN     "order_hash" VARCHAR(64);
