-- No query looks for rows by what is shown of a key.
DROP INDEX "usage_records_api_key_id_idx";
