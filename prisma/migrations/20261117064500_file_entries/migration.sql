-- CreateTable
CREATE TABLE "file_entries" (
    "section" VARCHAR(16) NOT NULL,
    "name" TEXT NOT NULL,
    "hash" VARCHAR(64) NOT NULL,
    "target" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "file_entries_pkey" PRIMARY KEY ("section","name")
);
