-- AlterTable
ALTER TABLE "usage_records" ADD COLUMN     "media_tokens" JSONB;

-- AlterTable
ALTER TABLE "price_overrides" ADD COLUMN     "audio_input_per_million" DOUBLE PRECISION,
ADD COLUMN     "audio_output_per_million" DOUBLE PRECISION,
ADD COLUMN     "cached_audio_input_per_million" DOUBLE PRECISION,
ADD COLUMN     "image_output_per_million" DOUBLE PRECISION;
