import type { DialectRequest, EventDialect } from '@model-gateway/dialects';
import {
  type BodyMemory,
  parseExactJson,
  readBody,
  requestIdOf,
  sendJsonText,
  type StoredReader,
  validated,
} from '@model-gateway/http';
import { estimatePromptInSteps } from '@model-gateway/inference';
import type { z } from 'zod';
import type { FreeRequests } from '../surface/free-requests.ts';
import type { CallRoute } from '../surface/http-call.ts';
import { ONE_STEP_CHARS_MAX, parseInSteps } from '../surface/parse-in-steps.ts';
import { ignoredFlags, ignoredHeader } from './ignored-header.ts';

interface CountTokensDependencies {
  readonly freeRequests: FreeRequests;
  readonly bodyBytesMax: number;
  readonly bodyMemory: BodyMemory;
}

interface CountTokensRoute<Request extends DialectRequest> {
  readonly path: string;
  readonly dialect: Pick<EventDialect<Request>, 'requestIdHeader' | 'flagsHeader' | 'writeError'>;
  readonly request: z.ZodType<Request>;
  /** Completes a request by what is stored for its user. */
  readonly complete?: (request: Request, reader: StoredReader) => Promise<Request>;
  readonly writeAnswer: (tokens: number) => object;
}

/** Counts the tokens of a request in one of the other APIs: an estimate, free, and without a call to an upstream. */
export function createCountTokensRoute<Request extends DialectRequest>(
  { path, dialect, request: schema, complete, writeAnswer }: CountTokensRoute<Request>,
  { freeRequests, bodyBytesMax, bodyMemory: memory }: CountTokensDependencies,
): CallRoute {
  return {
    method: 'POST',
    path,
    writeError: (facts) => dialect.writeError(facts),
    async handle(call) {
      const { request, response } = call;
      const { requestIdHeader } = dialect;
      if (requestIdHeader !== undefined)
        response.setHeader(requestIdHeader, requestIdOf(request, response));
      await freeRequests.handle(call, async (reader) => {
        const counted = { memory, owner: reader.userId, response };
        const body = await readBody(request, bodyBytesMax, counted);
        const given =
          body.length > ONE_STEP_CHARS_MAX
            ? await parseInSteps(schema, body, parseExactJson)
            : validated(schema, parseExactJson(body));
        const { chat, ignored } = complete === undefined ? given : await complete(given, reader);
        const flags = ignoredFlags(dialect.flagsHeader, request);
        const text = JSON.stringify(writeAnswer(await estimatePromptInSteps(chat)));
        sendJsonText(response, 200, text, ignoredHeader([...ignored, ...flags]));
      });
    },
  };
}
