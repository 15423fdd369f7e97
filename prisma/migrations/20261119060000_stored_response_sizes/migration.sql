-- AlterTable
ALTER TABLE "stored_responses" ADD COLUMN     "bytes" INTEGER,
ADD COLUMN     "input_items" INTEGER,
ADD COLUMN     "largest_input_bytes" INTEGER,
ADD COLUMN     "largest_output_bytes" INTEGER,
ADD COLUMN     "output_items" INTEGER;

-- Some functions for JSON refuse texts with \u0000 or half characters, which responses may have. Such a response counts as one item.
CREATE FUNCTION pg_temp.count_items(list text, field text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  RETURN coalesce(json_array_length(CASE WHEN field IS NULL THEN list::json ELSE list::json -> field END), 0);
EXCEPTION WHEN others THEN
  RETURN 1;
END;
$$;

-- The size of a compressed text is known without reading it.
UPDATE "stored_responses" SET
  "bytes" = octet_length("input") + octet_length("response"),
  "input_items" = pg_temp.count_items("input", NULL),
  "largest_input_bytes" = octet_length("input"),
  "largest_output_bytes" = octet_length("response"),
  "output_items" = pg_temp.count_items("response", 'output');

DROP FUNCTION pg_temp.count_items(text, text);

-- AlterTable
ALTER TABLE "stored_responses" ALTER COLUMN "bytes" SET NOT NULL,
ALTER COLUMN "input_items" SET NOT NULL,
ALTER COLUMN "largest_input_bytes" SET NOT NULL,
ALTER COLUMN "largest_output_bytes" SET NOT NULL,
ALTER COLUMN "output_items" SET NOT NULL;
