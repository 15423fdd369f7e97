-- AlterTable
ALTER TABLE "rejected_usage" ADD COLUMN     "halts" BOOLEAN NOT NULL DEFAULT false;
