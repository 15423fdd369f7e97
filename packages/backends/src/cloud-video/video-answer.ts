import { tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { z } from 'zod';
import type { ControlAnswer } from '../transport/control-plane.ts';
import { cleanMessage, upstreamRefused } from '../errors/upstream-error.ts';

const refusalSchema = z.looseObject({
  base_resp: z.looseObject({ status_code: z.int(), status_msg: z.string().default('') }),
});

// Codes of failures of the service, not of the request: unknown error, time-out, rate limit, internal error, token limit.
const SERVICE_CODES: readonly number[] = [1000, 1001, 1002, 1013, 1033, 1039];
const RATE_LIMIT_CODE = 1002;

/** Reads an answer of the video API. One with a good status and a bad code in `base_resp` is a failure too. */
export function readVideoAnswer<Schema extends z.ZodType>(
  { status, text, retryAfter }: ControlAnswer,
  schema: Schema,
  secret: string | null,
): z.output<Schema> {
  const body = tryParseJson(text);
  const refusal = refusalSchema.safeParse(body).data?.base_resp;
  if (status < 200 || status > 299) throw upstreamRefused(status, text, secret, retryAfter);
  if (refusal !== undefined && refusal.status_code !== 0) {
    const { status_code, status_msg } = refusal;
    throw new UpstreamFailure(`upstream ${status_code}: ${cleanMessage(status_msg, secret)}`, {
      isBackendAtFault: SERVICE_CODES.includes(status_code),
      wasAnswered: true,
      hadNoEffect: status_code === RATE_LIMIT_CODE,
      isRateLimit: status_code === RATE_LIMIT_CODE,
      loggedAs: `upstream ${status_code}`,
    });
  }
  const answer = schema.safeParse(body);
  if (answer.success) return answer.data;
  throw new UpstreamFailure('the upstream response is not a valid video API response', {
    isBackendAtFault: true,
    wasUnreadable: true,
  });
}
