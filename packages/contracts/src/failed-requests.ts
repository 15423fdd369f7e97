import { z } from 'zod';
import { ATTEMPTS_MAX, requestAttempt } from './request-attempt.ts';

const COUNT_MAX = 2_147_483_647;

const failedRequest = z.object({
  id: z.uuid(),
  createdAt: z.coerce.date(),
  userId: z.uuid(),
  keyId: z.uuid().nullable(),
  groupId: z.uuid().nullable(),
  apiKeyId: z.string().max(64),
  project: z.string().max(128).nullable(),
  backend: z.string().max(64),
  model: z.string().max(128).nullable(),
  /** The model in sums; empty for one that no backend has. */
  countedModel: z.string().max(128),
  upstream: z.string().max(255).nullable(),
  refId: z.string().max(64).nullable(),
  latencyMs: z.int().nonnegative().max(COUNT_MAX).nullable(),
  status: z.int().nonnegative().max(COUNT_MAX),
  errorCode: z.string().max(64),
  error: z.string().max(1000),
  /** The id that the client gave the request. */
  requestId: z.string().max(128).nullable(),
  attempts: z.array(requestAttempt).max(ATTEMPTS_MAX).readonly().nullable(),
  repeats: z.int().positive().max(COUNT_MAX),
});

/** A request of a known user that was refused or failed before anything was metered. */
export type FailedRequest = Readonly<z.output<typeof failedRequest>>;

/** Failed requests in the usage journal, several in one entry. By its id each is recorded once. */
export const failedRequestsSchema = z.object({
  kind: z.literal('failures'),
  failures: z.array(failedRequest).readonly(),
});
