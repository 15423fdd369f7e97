import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';

/** A served request of a new user, with a key of the default project, that cost a quarter of a dollar. */
export function usageEvent(values: Partial<UsageEvent> = {}): UsageEvent {
  return {
    id: newId(),
    user_id: newId(),
    key_id: newId(),
    api_key_id: 'service-',
    project: 'default',
    group_id: null,
    model: 'demo-chat',
    backend: 'gateway',
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 7,
    cost: 0.25,
    multiplier: 1,
    ref_id: null,
    created_at: '2026-03-04T05:06:07.890Z',
    ...values,
  };
}
