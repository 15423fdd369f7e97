import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson, readBody, validated } from '@model-gateway/http';
import { assertModelAllowed, type Caller, type Quotas } from '@model-gateway/inference';
import { yieldToEventLoop } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { z } from 'zod';
import type { KeyGate } from './key-gate.ts';

/** A request that may be routed: its key, limits, body and quota have been checked, in this order. */
export interface AuthorizedRequest<Body> {
  readonly caller: Caller;
  readonly body: Body;
  /** What the model's alias stands for: resolved once, so that the model that was checked is the one that serves. */
  readonly resolvedModel: string;
}

/** Runs every check that an inference request must pass before it is routed. */
export interface RequestAuthorizer {
  /** Resolves to undefined when a refusal has already been sent. */
  authorizeRequest<Schema extends z.ZodType<{ readonly model: string }>>(
    request: IncomingMessage,
    response: ServerResponse,
    schema: Schema,
    options?: AuthorizationOptions,
  ): Promise<AuthorizedRequest<z.output<Schema>> | undefined>;
}

interface AuthorizationOptions {
  /** For requests that have a price whatever their model is; otherwise points pay only for models with a price. */
  readonly isAlwaysPriced?: boolean;
}

interface RequestAuthorizerDependencies {
  readonly keyGate: KeyGate;
  readonly quotas: Quotas;
  readonly router: Pick<Router, 'aliases'>;
  readonly bodyBytesMax: number;
}

const EARLY_PARSE_CHARS_MAX = 64 * 1024;
/** A larger body is parsed and checked in steps, between which the process serves other requests. */
const ONE_STEP_CHARS_MAX = 512 * 1024;

export function createRequestAuthorizer(
  dependencies: RequestAuthorizerDependencies,
): RequestAuthorizer {
  const { keyGate, quotas, router, bodyBytesMax } = dependencies;
  return {
    async authorizeRequest(request, response, schema, { isAlwaysPriced = false } = {}) {
      const authenticating = keyGate.authenticate(request, response);
      const keyed = authenticating instanceof Promise ? await authenticating : authenticating;
      if (keyed === undefined) return undefined;
      // The body is read while the limits are checked. Only a small one is parsed early, so that a refused request costs
      // little. Problems with the key are reported before problems with the body.
      const reading = readBody(request, bodyBytesMax).then((text) => ({
        text,
        parsed:
          text.length > EARLY_PARSE_CHARS_MAX ? undefined : validated(schema, parseJson(text)),
      }));
      reading.catch(() => undefined);
      const admitted = await keyGate.admit(keyed, response);
      if (admitted === undefined) return undefined;
      const { caller, payer, hints } = admitted;
      const { text, parsed } = await reading;
      const body = parsed ?? (await parseBody(schema, text));
      const resolvedModel = router.aliases.resolve(body.model);
      const covering = quotas.assertCovered(payer, hints, isAlwaysPriced ? null : resolvedModel);
      if (covering !== undefined) await covering;
      assertModelAllowed(caller, body.model, resolvedModel);
      return { caller, body, resolvedModel };
    },
  };
}

async function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): Promise<z.output<Schema>> {
  if (text.length <= ONE_STEP_CHARS_MAX) return validated(schema, parseJson(text));
  await yieldToEventLoop();
  const value = parseJson(text);
  await yieldToEventLoop();
  const body = validated(schema, value);
  await yieldToEventLoop();
  return body;
}
