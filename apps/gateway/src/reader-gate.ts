import type { IncomingMessage, ServerResponse } from 'node:http';
import { isKeyForm, type KeyCache, type ModelPolicy } from '@model-gateway/accounts';
import { bearerOf } from '@model-gateway/http';
import type { GatewaySignIns } from './gateway-sign-ins.ts';
import { LIMITED_TEXT, refuse } from './key-gate.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** Accepts an API key or an access token. On refusal it sends the response and resolves to undefined. */
export type ReaderGate = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<{ readonly modelPolicy: ModelPolicy | null } | undefined>;

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
    const bearer = bearerOf(request);
    if (bearer === undefined) {
      return refuse(response, 401, 'Missing Authorization header. Use: Bearer <api_key_or_jwt>');
    }
    const found = await reader(bearer);
    if (found === undefined) return refuse(response, 401, 'Invalid API key or JWT');
    if (!limiter.admits(found.limitedAs)) return refuse(response, 429, LIMITED_TEXT);
    return found;
  };
}
