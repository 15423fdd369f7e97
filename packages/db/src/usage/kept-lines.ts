import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { NIL_UUID } from '../spend/slice-sql.ts';
import type { UsageLine } from './usage-lines.ts';

/**
 * Adds lines to all kept sums, in one statement: what the triggers of `usage_records` do for rows that are inserted by other
 * means. Every table is written in the order of its keys, so that two writers wait for one another instead of colliding.
 *
 * The time of a change of totals and of keys moves on only after twenty seconds: an update that changes no indexed column costs a
 * part of one that does. Who reads what changed looks back further than that.
 */
export async function countLines(queries: RawQueries, lines: readonly UsageLine[]): Promise<void> {
  const column = (pick: (line: UsageLine) => string | number | boolean | null): string =>
    arrayText(lines.map(pick));
  const positions = lines.flatMap(({ costs }, index) => costs.map(() => index + 1));
  await queries.$executeRaw`
    WITH priced AS (
      SELECT position, sum(cost::numeric) AS cost
      FROM unnest(
        ${arrayText(positions)}::bigint[],
        ${arrayText(lines.flatMap(({ costs }) => costs))}::double precision[]
      ) AS event (position, cost)
      GROUP BY position
    ), line AS MATERIALIZED (
      SELECT
        given.*, coalesce(priced.cost, 0) AS cost,
        date_trunc('day', hour, 'UTC') AS day, (hour AT TIME ZONE 'UTC')::date AS date
      FROM unnest(
        ${column(({ hour }) => hour)}::timestamptz[],
        ${column(({ userId }) => userId)}::uuid[],
        ${column(({ keyId }) => keyId)}::uuid[],
        ${column(({ groupId }) => groupId ?? NIL_UUID)}::uuid[],
        ${column(({ project }) => project)}::text[],
        ${column(({ model }) => model)}::text[],
        ${column(({ upstream }) => upstream)}::text[],
        ${column(({ backend }) => backend)}::text[],
        ${column(({ refId }) => refId)}::text[],
        ${column(({ isOfTier }) => isOfTier)}::boolean[],
        ${column(({ requests }) => requests)}::bigint[],
        ${column(({ errors }) => errors)}::bigint[],
        ${column(({ promptTokens }) => promptTokens)}::bigint[],
        ${column(({ completionTokens }) => completionTokens)}::bigint[],
        ${column(({ cachedTokens }) => cachedTokens)}::bigint[],
        ${column(({ totalTokens }) => totalTokens)}::bigint[],
        ${column(({ points }) => points)}::bigint[]
      ) WITH ORDINALITY AS given (
        hour, user_id, key_id, group_id, project, model, upstream, backend, ref_id, is_of_tier,
        requests, errors, prompt_tokens, completion_tokens, cached_tokens, total_tokens, points, position
      )
      LEFT JOIN priced USING (position)
    ), totals AS (
      INSERT INTO usage_totals AS total (
        user_id, project, month, requests, tier_requests, tier_cost, tier_tokens, updated_at
      )
      SELECT
        user_id, CASE WHEN key_id IS NULL THEN '' ELSE project END, date_trunc('month', date::timestamp)::date,
        sum(requests), coalesce(sum(requests) FILTER (WHERE is_of_tier), 0),
        coalesce(sum(cost) FILTER (WHERE is_of_tier), 0),
        coalesce(sum(total_tokens) FILTER (WHERE is_of_tier), 0), clock_timestamp()
      FROM line
      GROUP BY 1, 2, 3
      ORDER BY 1, 2, 3
      ON CONFLICT (user_id, month, project) DO UPDATE SET
        requests = total.requests + EXCLUDED.requests,
        tier_requests = total.tier_requests + EXCLUDED.tier_requests,
        tier_cost = total.tier_cost + EXCLUDED.tier_cost,
        tier_tokens = total.tier_tokens + EXCLUDED.tier_tokens,
        updated_at = CASE WHEN total.updated_at < EXCLUDED.updated_at - INTERVAL '20 seconds'
          THEN EXCLUDED.updated_at ELSE total.updated_at END
    ), days AS (
      INSERT INTO usage_daily AS daily (
        day, model, backend, requests, prompt_tokens, completion_tokens, total_tokens, cost
      )
      SELECT
        date, model, backend,
        sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost)
      FROM line
      GROUP BY 1, 2, 3
      ORDER BY 1, 2, 3
      ON CONFLICT (day, model, backend) DO UPDATE SET
        requests = daily.requests + EXCLUDED.requests,
        prompt_tokens = daily.prompt_tokens + EXCLUDED.prompt_tokens,
        completion_tokens = daily.completion_tokens + EXCLUDED.completion_tokens,
        total_tokens = daily.total_tokens + EXCLUDED.total_tokens,
        cost = daily.cost + EXCLUDED.cost
    ), days_of_refs AS (
      INSERT INTO usage_daily_refs AS daily (
        ref_id, day, model, backend, requests, prompt_tokens, completion_tokens, total_tokens, cost
      )
      SELECT
        ref_id, date, model, backend,
        sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost)
      FROM line
      WHERE ref_id IS NOT NULL
      GROUP BY 1, 2, 3, 4
      ORDER BY 1, 2, 3, 4
      ON CONFLICT (ref_id, day, model, backend) DO UPDATE SET
        requests = daily.requests + EXCLUDED.requests,
        prompt_tokens = daily.prompt_tokens + EXCLUDED.prompt_tokens,
        completion_tokens = daily.completion_tokens + EXCLUDED.completion_tokens,
        total_tokens = daily.total_tokens + EXCLUDED.total_tokens,
        cost = daily.cost + EXCLUDED.cost
    ), hours AS (
      INSERT INTO usage_hourly AS hourly (
        hour, model, backend, requests, prompt_tokens, completion_tokens, total_tokens, cost
      )
      SELECT
        hour, model, backend,
        sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost)
      FROM line
      GROUP BY 1, 2, 3
      ORDER BY 1, 2, 3
      ON CONFLICT (hour, model, backend) DO UPDATE SET
        requests = hourly.requests + EXCLUDED.requests,
        prompt_tokens = hourly.prompt_tokens + EXCLUDED.prompt_tokens,
        completion_tokens = hourly.completion_tokens + EXCLUDED.completion_tokens,
        total_tokens = hourly.total_tokens + EXCLUDED.total_tokens,
        cost = hourly.cost + EXCLUDED.cost
    ), refs AS (
      INSERT INTO usage_ref_days AS daily (
        ref_id, day, requests, prompt_tokens, completion_tokens, total_tokens, cost
      )
      SELECT
        ref_id, date,
        sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost)
      FROM line
      WHERE ref_id IS NOT NULL
      GROUP BY 1, 2
      ORDER BY 1, 2
      ON CONFLICT (ref_id, day) DO UPDATE SET
        requests = daily.requests + EXCLUDED.requests,
        prompt_tokens = daily.prompt_tokens + EXCLUDED.prompt_tokens,
        completion_tokens = daily.completion_tokens + EXCLUDED.completion_tokens,
        total_tokens = daily.total_tokens + EXCLUDED.total_tokens,
        cost = daily.cost + EXCLUDED.cost
    ), keys AS (
      INSERT INTO key_spend AS spend (key_id, day, requests, cost, updated_at)
      SELECT key_id, date, sum(requests), sum(cost), clock_timestamp()
      FROM line
      WHERE key_id IS NOT NULL
      GROUP BY 1, 2
      ORDER BY 1, 2
      ON CONFLICT (key_id, day) DO UPDATE SET
        requests = spend.requests + EXCLUDED.requests,
        cost = spend.cost + EXCLUDED.cost,
        updated_at = CASE WHEN spend.updated_at < EXCLUDED.updated_at - INTERVAL '20 seconds'
          THEN EXCLUDED.updated_at ELSE spend.updated_at END
    ), account AS (
      SELECT
        hour, day, user_id, coalesce(key_id, ${NIL_UUID}::uuid) AS key_id, group_id, project, model, upstream,
        requests, errors, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
      FROM line
    )
    INSERT INTO usage_sums AS kept (
      cut, grain, since, user_id, key_id, group_id, project, model, upstream,
      requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
    )
    SELECT
      CASE GROUPING(user_id, group_id, project, model)
        WHEN 14 THEN 'model' WHEN 11 THEN 'group' WHEN 13 THEN 'project' WHEN 10 THEN 'group-model'
        WHEN 1 THEN 'account' ELSE 'all' END,
      CASE WHEN GROUPING(day) = 1 THEN 'hour' ELSE 'day' END,
      coalesce(hour, day),
      coalesce(user_id, ${NIL_UUID}::uuid), coalesce(key_id, ${NIL_UUID}::uuid),
      coalesce(group_id, ${NIL_UUID}::uuid), coalesce(project, ''), coalesce(model, ''), coalesce(upstream, ''),
      sum(requests), sum(errors), 0,
      sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(total_tokens), sum(cost), sum(points)
    FROM account
    GROUP BY GROUPING SETS (
      (hour, model, upstream),
      (day, model, upstream),
      (hour, group_id),
      (day, group_id),
      (hour, project),
      (day, project),
      (hour, group_id, model, upstream),
      (day, group_id, model, upstream),
      (hour, user_id, key_id, group_id, project),
      (day, user_id, key_id, group_id, project),
      (hour, user_id, key_id, group_id, project, model, upstream),
      (day, user_id, key_id, group_id, project, model, upstream)
    )
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ON CONFLICT (cut, grain, since, user_id, key_id, group_id, project, model, upstream) DO UPDATE SET
      requests = kept.requests + EXCLUDED.requests,
      errors = kept.errors + EXCLUDED.errors,
      prompt_tokens = kept.prompt_tokens + EXCLUDED.prompt_tokens,
      completion_tokens = kept.completion_tokens + EXCLUDED.completion_tokens,
      cached_tokens = kept.cached_tokens + EXCLUDED.cached_tokens,
      total_tokens = kept.total_tokens + EXCLUDED.total_tokens,
      cost = kept.cost + EXCLUDED.cost,
      points = kept.points + EXCLUDED.points`;
}
