import type { IncomingMessage } from 'node:http';
import {
  parseExactJson,
  parseJson,
  readBody,
  STORED_ITEMS_MAX,
  storedReaderFor,
  validated,
  type BodyMemory,
  type StoredReader,
} from '@model-gateway/http';
import {
  admit,
  type AdmitServices,
  type AdmittedCall,
  type AnswerCache,
  type AskedCall,
  type CallBodies,
  type Grant,
  type KeepBodies,
  type NamedModels,
} from '@model-gateway/inference';
import type { z } from 'zod';
import { answerFromCache, type CacheOptions } from '../cache/answer-cache.ts';
import type { HttpCall } from './http-call.ts';
import { ONE_STEP_CHARS_MAX, parseInSteps } from './parse-in-steps.ts';

/** Admits requests by what their bodies ask for. */
export interface HttpAdmission {
  /** Resolves to undefined when the request has its answer: a stored one, or that of the request that it repeats. */
  admit<Body extends NamedModels>(
    call: HttpCall,
    schema: z.ZodType<Body>,
    options: AdmissionOptions<Body>,
  ): Promise<AdmittedCall<Body> | undefined>;
}

interface AdmissionOptions<Body extends NamedModels> extends Pick<
  AskedCall<Body>,
  'expected' | 'job' | 'answerRepeated'
> {
  /** Reads what the schema describes, for a body that is not JSON. It may keep much, so limits are checked before. */
  readonly read?: (request: IncomingMessage, userId: string) => Promise<unknown>;
  /** Whether nothing of the body passes to an upstream as it came, so that its numbers need not keep their text. */
  readonly isOwn?: boolean;
  /** Completes a body by what is stored for the user, once the request is admitted. */
  readonly complete?: ((body: Body, reader: StoredReader) => Promise<Body>) | undefined;
  /** For requests whose answers may be stored for equal requests. */
  readonly cache?: CacheOptions<Body> | undefined;
}

interface JsonReading {
  readonly userId: string;
  readonly bodies: CallBodies | undefined;
  readonly parse: (text: string) => unknown;
}

interface HttpAdmissionDependencies extends AdmitServices {
  readonly bodyBytesMax: number;
  readonly bodyMemory: BodyMemory;
  readonly answerCache: AnswerCache;
  readonly keepBodies: KeepBodies;
  /** Whether bodies are kept for keys that say nothing about it. */
  readonly logBodies: boolean;
}

export function createHttpAdmission(dependencies: HttpAdmissionDependencies): HttpAdmission {
  const { bodyBytesMax, bodyMemory: memory, answerCache, keepBodies, logBodies } = dependencies;

  /** Keeps what is sent until the response is closed. */
  function keptBodies({ response, answer, log }: HttpCall): CallBodies {
    const bodies = keepBodies(log);
    answer.readAlong({ onPart: (part) => bodies.answer(part) });
    response.once('close', () => bodies.end());
    return bodies;
  }

  /** The body, and its JSON unless it is large. */
  async function readJson<Body>(
    { request, response, log }: HttpCall,
    schema: z.ZodType<Body>,
    { userId, bodies, parse }: JsonReading,
  ): Promise<{ readonly body: Body; readonly value: unknown }> {
    const text = await readBody(request, bodyBytesMax, { memory, owner: userId, response });
    bodies?.request(text);
    if (text.length > ONE_STEP_CHARS_MAX)
      return { body: await parseInSteps(schema, text, parse), value: undefined };
    const value = parse(text);
    log.model = namedModel(value);
    return { body: validated(schema, value), value };
  }

  return {
    async admit<Body extends NamedModels>(
      call: HttpCall,
      schema: z.ZodType<Body>,
      { read, isOwn = false, complete, cache, ...asked }: AdmissionOptions<Body>,
    ) {
      const { request, response } = call;
      let value: unknown;
      const admitted = await admit<Body>(
        call,
        {
          ...asked,
          isLarge: read !== undefined,
          async read({ caller: { userId }, logsBodies }: Grant) {
            const bodies = (logsBodies ?? logBodies) ? keptBodies(call) : undefined;
            if (read !== undefined) return validated(schema, await read(request, userId));
            const parse = isOwn ? parseJson : parseExactJson;
            const json = await readJson(call, schema, { userId, bodies, parse });
            ({ value } = json);
            return json.body;
          },
          // The size of what is stored is known and its memory is taken before it is read.
          complete:
            complete &&
            (async (body, { caller: { userId } }) => {
              const limits = { bytes: bodyBytesMax, items: STORED_ITEMS_MAX };
              const reader = storedReaderFor(response, { userId, memory, limits });
              const whole = await complete(body, reader);
              return { body: whole, isLonger: reader.total.bytes > 0 };
            }),
        },
        dependencies,
      );
      if (admitted === undefined || cache === undefined) return admitted;
      try {
        if (!(await answerFromCache(call, admitted, cache, value, answerCache))) return admitted;
      } catch (error) {
        admitted.reservation.end();
        throw error;
      }
      admitted.reservation.end();
      return undefined;
    },
  };
}

/** The model that a body names which may be refused for another field. */
function namedModel(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('model' in body)) return undefined;
  return typeof body.model === 'string' ? body.model : undefined;
}
