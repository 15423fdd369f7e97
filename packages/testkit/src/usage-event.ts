import { failedRequestsSchema, usageEventSchema, type UsageEvent } from '@model-gateway/contracts';
import { newId, type JournalEntry } from '@model-gateway/kernel';

/** A usage event of a user that need not exist. */
export function usageEvent(userId: string, values: Partial<UsageEvent> = {}): UsageEvent {
  return {
    id: newId(),
    user_id: userId,
    key_id: null,
    api_key_id: `jwt-${userId}`,
    project: null,
    group_id: null,
    model: 'm',
    backend: 'gateway',
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cost: 0.25,
    multiplier: 1,
    ref_id: null,
    created_at: new Date().toISOString(),
    ...values,
  };
}

/** The usage events of a batch of the journal, in which failed requests are as well. */
export const usageEventsIn = (batch: readonly Pick<JournalEntry, 'body'>[]): UsageEvent[] =>
  batch
    .map(({ body }): unknown => JSON.parse(body))
    .filter((content) => !failedRequestsSchema.safeParse(content).success)
    .map((content) => usageEventSchema.parse(content));
