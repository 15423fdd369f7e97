import { countTokensRequest, messagesDialect } from '@model-gateway/dialects';
import {
  expectJsonOnly,
  parseJson,
  readBody,
  requestIdOf,
  sendJsonText,
  validated,
  type BodyMemory,
  type LeanRoute,
} from '@model-gateway/http';
import { estimatePrompt } from '@model-gateway/inference';
import type { KeyAuthenticator } from '../key-authenticator.ts';
import { ONE_STEP_CHARS_MAX, parseInSteps } from '../parse-in-steps.ts';
import { ignoredFlags } from './ignored-flags.ts';
import { ignoredHeader } from './ignored-header.ts';

interface CountTokensDependencies {
  readonly keyAuthenticator: Pick<KeyAuthenticator, 'authenticateOnly'>;
  readonly bodyBytesMax: number;
  readonly bodyMemory: BodyMemory;
}

/** `POST /v1/messages/count_tokens`: an estimate, free, and without a call to an upstream. */
export function createCountTokensRoute({
  keyAuthenticator,
  bodyBytesMax,
  bodyMemory: memory,
}: CountTokensDependencies): LeanRoute {
  return {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    writeError: (facts) => messagesDialect.writeError(facts),
    async handle(request, response) {
      response.setHeader('request-id', requestIdOf(request, response));
      expectJsonOnly(request);
      const keyed = await keyAuthenticator.authenticateOnly(request, response);
      if (keyed === undefined) return;
      const owner = keyed.known.grant.holder.userId;
      const body = await readBody(request, bodyBytesMax, { memory, owner, response });
      const { chat, ignored } =
        body.length > ONE_STEP_CHARS_MAX
          ? await parseInSteps(countTokensRequest, body)
          : validated(countTokensRequest, parseJson(body));
      const flags = ignoredFlags(messagesDialect.flagsHeader, request);
      const text = JSON.stringify({ input_tokens: estimatePrompt(chat) });
      sendJsonText(response, 200, text, ignoredHeader([...ignored, ...flags]));
    },
  };
}
