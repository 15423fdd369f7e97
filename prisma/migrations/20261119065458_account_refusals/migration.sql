-- AlterTable
ALTER TABLE "ledger_accounts" DROP COLUMN "refused_until",
ADD COLUMN     "increases" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "account_refusals" (
    "user_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "increases" BIGINT NOT NULL,

    CONSTRAINT "account_refusals_pkey" PRIMARY KEY ("user_id","account_id")
);

-- CreateIndex
CREATE INDEX "account_refusals_account_id_idx" ON "account_refusals"("account_id");

-- AddForeignKey
ALTER TABLE "account_refusals" ADD CONSTRAINT "account_refusals_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on: what schema.prisma cannot say.

-- Every update increments the version. An account that grows is refused to nobody.
CREATE OR REPLACE FUNCTION "ledger_accounts_note_change"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
BEGIN
    NEW."version" := OLD."version" + 1;
    NEW."updated_at" := clock_timestamp();
    IF NEW."balance" > OLD."balance" THEN
        NEW."increases" := OLD."increases" + 1;
        DELETE FROM "account_refusals" WHERE "account_id" = OLD."id";
    END IF;
    RETURN NEW;
END
$$;
