import type { RpcResult } from '@model-gateway/contracts';
import type { UsageRecord } from './usage-store.ts';

/** A metered request as it is shown. */
export function viewUsage(record: UsageRecord): RpcResult<'usage.list'>['records'][number] {
  return {
    id: record.id,
    model: record.model,
    backend: record.surface,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    total_tokens: record.totalTokens,
    cost: record.cost,
    created_at: record.createdAt.toISOString(),
    ref_id: record.refId,
    points: record.points,
    account_type: record.accountType,
    key_id: record.keyId,
    project: record.project,
    user_id: record.userId,
    group_id: record.groupId,
    upstream: record.upstream,
    cached_tokens: record.cachedTokens,
    latency_ms: record.latencyMs,
    first_token_ms: record.firstTokenMs,
    status: record.status,
    cache_write_tokens: record.cacheWriteTokens,
    media_tokens: record.mediaTokens,
    images: record.images,
    audio_seconds: record.audioSeconds,
    price: record.price,
    cached: record.cached ?? false,
  };
}
