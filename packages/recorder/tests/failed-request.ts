import type { FailedRequest } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';

/** A request of a user that was refused. */
export const failedRequest = (
  userId: string,
  values: Partial<FailedRequest> = {},
): FailedRequest => ({
  id: newId(),
  createdAt: new Date('2026-03-02T10:00:00.000Z'),
  userId,
  keyId: null,
  groupId: null,
  apiKeyId: `jwt-${userId}`,
  project: null,
  backend: 'gateway',
  model: 'm',
  countedModel: 'm',
  upstream: null,
  refId: null,
  latencyMs: 1,
  status: 429,
  errorCode: 'rate_limit_exceeded',
  error: 'too many',
  requestId: null,
  attempts: null,
  repeats: 1,
  ...values,
});
