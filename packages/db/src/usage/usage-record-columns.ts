import { Prisma } from '../generated/client.ts';

/** The columns of a usage row, under the names of its record. */
export const USAGE_RECORD = Prisma.sql`
  id, api_key_id AS "apiKeyId", key_id AS "keyId", user_id AS "userId", project, group_id AS "groupId",
  model, backend AS surface,
  prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens", total_tokens AS "totalTokens",
  cost, points, account_type AS "accountType", ref_id AS "refId", created_at AS "createdAt",
  upstream, cached_tokens AS "cachedTokens", latency_ms AS "latencyMs", first_token_ms AS "firstTokenMs", status,
  cache_write_tokens AS "cacheWriteTokens", images, audio_seconds AS "audioSeconds", price, cached,
  media_tokens AS "mediaTokens"`;
