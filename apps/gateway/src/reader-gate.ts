import type { IncomingMessage, ServerResponse } from 'node:http';
import { isKeyForm, type KeyCache, type ModelPolicy } from '@model-gateway/accounts';
import { apiKeyOf } from '@model-gateway/http';
import type { GatewaySignIns } from './gateway-sign-ins.ts';
import { requestHeaders, type LimitHeaders } from './limit-headers.ts';
import { refuse, refuseLimit } from './refuse.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** Accepts an API key or an access token. On refusal it sends the response and resolves to undefined. */
export type ReaderGate = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Reader | undefined>;

/** Who reads. */
interface Reader {
  readonly modelPolicy: ModelPolicy | null;
  readonly limitHeaders: LimitHeaders;
}

interface ReaderGateDependencies {
  readonly keys: Pick<KeyCache, 'find'>;
  readonly limiter: RequestLimiter;
  readonly signIns: Pick<GatewaySignIns, 'userOf'>;
}

/** The request limit applies per key, and per user for access tokens. */
export function createReaderGate({ keys, limiter, signIns }: ReaderGateDependencies): ReaderGate {
  async function reader(bearer: string) {
    if (isKeyForm(bearer)) {
      const grant = (await keys.find(bearer))?.grant;
      return grant && { limitedAs: grant.holder.keyId, modelPolicy: grant.modelPolicy };
    }
    const userId = await signIns.userOf(bearer);
    return userId === undefined ? undefined : { limitedAs: `user:${userId}`, modelPolicy: null };
  }

  return async (request, response) => {
    const bearer = apiKeyOf(request);
    if (bearer === undefined) {
      return refuse(response, 'Missing Authorization header. Use: Bearer <api_key_or_jwt>');
    }
    const found = await reader(bearer);
    if (found === undefined) return refuse(response, 'Invalid API key or JWT');
    const { limitedAs, modelPolicy } = found;
    if (!limiter.admits(limitedAs)) return refuseLimit(response, limiter);
    return { modelPolicy, limitHeaders: requestHeaders(limiter, limitedAs) };
  };
}
