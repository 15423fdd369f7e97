import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Keys } from '@model-gateway/accounts';
import { answerText, bearerOf } from '@model-gateway/http';
import type { Caller } from '@model-gateway/inference';

/** Lets requests with a valid API key through; answers the others itself, in plain text, and yields nothing. */
export type KeyGate = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Caller | undefined>;

export function createKeyGate(keys: Keys): KeyGate {
  return async (request, response) => {
    const secret = bearerOf(request);
    if (secret === undefined) {
      answerText(response, 401, 'Missing Authorization header. Use: Bearer <api_key>');
      return undefined;
    }
    const holder = await keys.authenticate(secret);
    if (holder === undefined) {
      answerText(response, 401, 'Invalid API key');
      return undefined;
    }
    return {
      userId: holder.userId,
      keyId: holder.keyId,
      apiKeyId: holder.keyPrefix,
      project: holder.project,
      groupId: holder.groupId,
    };
  };
}
