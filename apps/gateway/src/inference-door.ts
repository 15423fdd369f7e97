import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson, readBody, validated } from '@model-gateway/http';
import { assertModelAllowed, type Caller, type Quotas } from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { z } from 'zod';
import type { KeyGate } from './key-gate.ts';

/** A request that may be routed: its key, its limits, its body and its quota have been looked at, in this order. */
export interface Entered<Body> {
  readonly caller: Caller;
  readonly body: Body;
}

/** The way in for every inference request; yields nothing when the request has been answered already. */
export interface InferenceDoor {
  enter<Schema extends z.ZodType<{ readonly model: string }>>(
    request: IncomingMessage,
    response: ServerResponse,
    schema: Schema,
    options?: EntryRules,
  ): Promise<Entered<z.output<Schema>> | undefined>;
}

interface EntryRules {
  /** For what has a price whatever its model; otherwise points pay only for models that have one. */
  readonly isAlwaysPriced?: boolean;
}

interface InferenceDoorDependencies {
  readonly keyGate: KeyGate;
  readonly quotas: Quotas;
  readonly router: Pick<Router, 'aliases'>;
  readonly bodyBytesMax: number;
}

const UNDERSTOOD_MEANWHILE_MAX = 64 * 1024;

export function createInferenceDoor(dependencies: InferenceDoorDependencies): InferenceDoor {
  const { keyGate, quotas, router, bodyBytesMax } = dependencies;
  return {
    async enter(request, response, schema, { isAlwaysPriced = false } = {}) {
      const recognised = keyGate.recognise(request, response);
      const entrant = recognised instanceof Promise ? await recognised : recognised;
      if (entrant === undefined) return undefined;
      // Read and understood while the limits are asked; a large one only when it may come in, since that takes its time. What
      // is wrong with it is told after what is wrong with the key.
      const reading = readBody(request, bodyBytesMax).then((text) => ({
        text,
        understood:
          text.length > UNDERSTOOD_MEANWHILE_MAX ? undefined : validated(schema, parseJson(text)),
      }));
      reading.catch(() => undefined);
      const admitted = await keyGate.admit(entrant, response);
      if (admitted === undefined) return undefined;
      const { caller, payer, hints } = admitted;
      const { text, understood } = await reading;
      const body = understood ?? validated(schema, parseJson(text));
      const model = router.aliases.resolve(body.model);
      const covering = quotas.assertCovered(payer, hints, isAlwaysPriced ? null : model);
      if (covering !== undefined) await covering;
      assertModelAllowed(caller, body.model, model);
      return { caller, body };
    },
  };
}
