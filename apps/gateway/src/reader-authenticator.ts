import type { IncomingMessage, ServerResponse } from 'node:http';
import { isKeyForm, type KeyCache, type ModelPolicy } from '@model-gateway/accounts';
import { apiKeyOf } from '@model-gateway/http';
import type { SignIns } from '@model-gateway/service';
import type { KeyChecks } from './key-checks.ts';
import { requestHeaders, type LimitHeaders } from './surface/limit-headers.ts';
import { refuse, refuseLimit } from './surface/refusals.ts';
import type { RequestLimiter } from './surface/request-limiter.ts';

/** Accepts an API key or an access token. On refusal it sends the response and resolves to undefined. */
export type AuthenticateReader = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Reader | undefined>;

/** Who reads. */
interface Reader {
  readonly modelPolicy: ModelPolicy | null;
  readonly limitHeaders: LimitHeaders;
}

interface ReaderAuthenticatorDependencies {
  readonly keys: Pick<KeyCache, 'find'>;
  readonly checks: KeyChecks;
  readonly limiter: RequestLimiter;
  readonly signIns: Pick<SignIns, 'userOf'>;
}

/** The request limit applies per key, and per user for access tokens. */
export function createReaderAuthenticator(
  dependencies: ReaderAuthenticatorDependencies,
): AuthenticateReader {
  const { keys, checks, limiter, signIns } = dependencies;

  async function reader(bearer: string, request: IncomingMessage) {
    if (isKeyForm(bearer)) {
      const grant = (await keys.find(bearer))?.grant;
      if (grant === undefined) return undefined;
      const refusal = checks.refusalOf(grant, request);
      if (refusal !== undefined) return { refusal };
      return { limitedAs: grant.holder.keyId, modelPolicy: grant.modelPolicy };
    }
    const userId = await signIns.userOf(bearer);
    return userId === undefined ? undefined : { limitedAs: `user:${userId}`, modelPolicy: null };
  }

  return async (request, response) => {
    const bearer = apiKeyOf(request);
    if (bearer === undefined) {
      return refuse(response, 'Missing Authorization header. Use: Bearer <api_key_or_jwt>');
    }
    const found = await reader(bearer, request);
    if (found === undefined) return refuse(response, 'Invalid API key or JWT');
    if ('refusal' in found) return refuse(response, found.refusal);
    const { limitedAs, modelPolicy } = found;
    if (!limiter.admits(limitedAs)) return refuseLimit(response, limiter, limitedAs);
    return { modelPolicy, limitHeaders: requestHeaders(limiter, limitedAs) };
  };
}
