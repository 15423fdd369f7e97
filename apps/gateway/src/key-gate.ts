import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isKeyForm,
  type AccessTokens,
  type KeyCache,
  type KeyGrant,
  type ModelPolicy,
} from '@model-gateway/accounts';
import { answerText, bearerOf } from '@model-gateway/http';
import type { Caller } from '@model-gateway/inference';
import type { RequestLimiter } from './request-limiter.ts';

/** Lets a request through, or answers it itself, in plain text, and yields nothing. */
type Gate<Admitted> = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Admitted | undefined>;

/** Lets requests with a valid API key through. */
export type KeyGate = Gate<Caller>;

/** Lets readers through: whoever has an API key or an access token. */
export type ReaderGate = Gate<{ readonly modelPolicy: ModelPolicy | null }>;

interface KeyGateDependencies {
  readonly keys: Pick<KeyCache, 'find'>;
  readonly limiter: RequestLimiter;
}

const LIMITED_TEXT = 'Rate limit exceeded. Try again later.';

export function createKeyGate({ keys, limiter }: KeyGateDependencies): KeyGate {
  return async (request, response) => {
    const bearer = bearerOf(request);
    if (bearer === undefined) {
      return refuse(response, 401, 'Missing Authorization header. Use: Bearer <api_key>');
    }
    const grant = await keys.find(bearer);
    if (grant === undefined) return refuse(response, 401, 'Invalid API key');
    if (!limiter.admits(grant.holder.keyId)) return refuse(response, 429, LIMITED_TEXT);
    return callerOf(grant);
  };
}

/** A key is limited as everywhere, an access token per user. */
export function createReaderGate({
  keys,
  limiter,
  tokens,
}: KeyGateDependencies & { readonly tokens: Pick<AccessTokens, 'verify'> }): ReaderGate {
  async function reader(bearer: string) {
    if (isKeyForm(bearer)) {
      const grant = await keys.find(bearer);
      return grant && { limitedAs: grant.holder.keyId, modelPolicy: grant.modelPolicy };
    }
    const userId = tokens.verify(bearer);
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

function refuse(response: ServerResponse, status: number, text: string): undefined {
  answerText(response, status, text);
}

function callerOf({ holder, modelPolicy }: KeyGrant): Caller {
  const { userId, keyId, keyPrefix, project, groupId } = holder;
  return { userId, keyId, apiKeyId: keyPrefix, project, groupId, modelPolicy };
}
