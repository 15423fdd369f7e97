-- CreateTable
CREATE TABLE "route_rules" (
    "model" VARCHAR(128) NOT NULL,
    "rule" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_rules_pkey" PRIMARY KEY ("model")
);
