-- What schema.prisma cannot say.

-- Counts new rows in the transaction that writes them, as "usage_records_count" does. One statement, whatever the number of
-- lines; they are taken in the order of their keys, so that two writers wait for one another instead of colliding.
-- Rows that are alike are added up first, so that each is looked at once and not once for every cut.
CREATE OR REPLACE FUNCTION "usage_records_sum"() RETURNS TRIGGER
LANGUAGE plpgsql
AS $$
DECLARE
    nothing CONSTANT UUID := '00000000-0000-0000-0000-000000000000';
BEGIN
    INSERT INTO "usage_sums" AS kept (
        "cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream",
        "requests", "errors", "failed", "prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens", "cost", "points"
    )
    SELECT
        CASE GROUPING("user_id", "group_id", "project", "model")
            WHEN 14 THEN 'model' WHEN 11 THEN 'group' WHEN 13 THEN 'project' WHEN 10 THEN 'group-model'
            WHEN 1 THEN 'account' ELSE 'all' END,
        CASE WHEN GROUPING("day") = 1 THEN 'hour' ELSE 'day' END,
        coalesce("hour", "day"),
        coalesce("user_id", nothing), coalesce("key_id", nothing), coalesce("group_id", nothing),
        coalesce("project", ''), coalesce("model", ''), coalesce("upstream", ''),
        sum("requests"), sum("errors"), 0,
        sum("prompt_tokens"), sum("completion_tokens"), sum("cached_tokens"), sum("total_tokens"), sum("cost"), sum("points")
    FROM (
        SELECT
            "hour", date_trunc('day', "hour", 'UTC') AS "day",
            "user_id", coalesce("key_id", nothing) AS "key_id", coalesce("group_id", nothing) AS "group_id",
            coalesce("project", '') AS "project", "model", coalesce("upstream", '') AS "upstream",
            count(*) AS "requests", count(*) FILTER (WHERE "status" >= 400) AS "errors",
            sum("prompt_tokens") AS "prompt_tokens", sum("completion_tokens") AS "completion_tokens",
            coalesce(sum("cached_tokens"), 0) AS "cached_tokens", sum("total_tokens") AS "total_tokens",
            coalesce(sum("cost"::NUMERIC), 0) AS "cost", coalesce(sum("points"), 0) AS "points"
        FROM (SELECT date_trunc('hour', "created_at", 'UTC') AS "hour", * FROM added) AS row
        GROUP BY "hour", "user_id", "key_id", "group_id", "project", "model", "upstream"
    ) AS line
    GROUP BY GROUPING SETS (
        ("hour", "model", "upstream"),
        ("day", "model", "upstream"),
        ("hour", "group_id"),
        ("day", "group_id"),
        ("hour", "project"),
        ("day", "project"),
        ("hour", "group_id", "model", "upstream"),
        ("day", "group_id", "model", "upstream"),
        ("hour", "user_id", "key_id", "group_id", "project"),
        ("day", "user_id", "key_id", "group_id", "project"),
        ("day", "user_id", "key_id", "group_id", "project", "model", "upstream")
    )
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ON CONFLICT ("cut", "grain", "since", "user_id", "key_id", "group_id", "project", "model", "upstream") DO UPDATE SET
        "requests" = kept."requests" + EXCLUDED."requests",
        "errors" = kept."errors" + EXCLUDED."errors",
        "prompt_tokens" = kept."prompt_tokens" + EXCLUDED."prompt_tokens",
        "completion_tokens" = kept."completion_tokens" + EXCLUDED."completion_tokens",
        "cached_tokens" = kept."cached_tokens" + EXCLUDED."cached_tokens",
        "total_tokens" = kept."total_tokens" + EXCLUDED."total_tokens",
        "cost" = kept."cost" + EXCLUDED."cost",
        "points" = kept."points" + EXCLUDED."points";

    RETURN NULL;
END
$$;
