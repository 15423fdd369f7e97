-- DropIndex
DROP INDEX "refresh_tokens_family_id_idx";

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "is_active" BOOLEAN NOT NULL DEFAULT true;

-- CreateTable
CREATE TABLE "sign_in_addresses" (
    "user_id" UUID NOT NULL,
    "address_hash" CHAR(64) NOT NULL,
    "signed_in_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "sign_in_addresses_pkey" PRIMARY KEY ("user_id","address_hash")
);

-- CreateIndex
CREATE INDEX "sign_in_addresses_signed_in_at_idx" ON "sign_in_addresses"("signed_in_at");

-- CreateIndex
CREATE INDEX "refresh_tokens_family_id_revoked_at_idx" ON "refresh_tokens"("family_id", "revoked_at");

-- AddForeignKey
ALTER TABLE "sign_in_addresses" ADD CONSTRAINT "sign_in_addresses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
