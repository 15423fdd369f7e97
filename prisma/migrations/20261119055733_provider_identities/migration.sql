-- AlterTable
ALTER TABLE "users" ADD COLUMN     "provider_claim" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "provider_claim_by" UUID;

-- AlterTable
ALTER TABLE "password_resets" ADD COLUMN     "created_by" UUID;

-- CreateTable
CREATE TABLE "provider_identities" (
    "user_id" UUID NOT NULL,
    "issuer" VARCHAR(1000) NOT NULL,
    "subject" VARCHAR(255) NOT NULL,
    "gave_role" BOOLEAN NOT NULL DEFAULT false,
    "bound_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "provider_identities_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "provider_identities_issuer_subject_key" ON "provider_identities"("issuer", "subject");

-- AddForeignKey
ALTER TABLE "provider_identities" ADD CONSTRAINT "provider_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
