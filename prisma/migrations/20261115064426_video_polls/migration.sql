-- AlterTable
ALTER TABLE "video_jobs" ADD COLUMN     "cost_multiplier" DOUBLE PRECISION NOT NULL DEFAULT 1,
ADD COLUMN     "polled_at" TIMESTAMPTZ(6),
ADD COLUMN     "served_model" VARCHAR(128);
