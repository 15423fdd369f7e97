import { ServiceError } from '@model-gateway/contracts';
import { responsesDialect } from '@model-gateway/dialects';
import { sendRestError, type ErrorWriter } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { Router, type ErrorRequestHandler } from 'express';
import { onlyTheseMethods } from '../only-these-methods.ts';
import type { StoredResponses } from '../responses/stored-responses.ts';
import type { FreeRequests } from '../surface/free-requests.ts';
import type { HttpCalls } from '../surface/http-call.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';

interface ResponsesRoutesDependencies {
  readonly calls: HttpCalls;
  /** Reads count in the limits as requests do, because they can be large. */
  readonly freeRequests: FreeRequests;
  readonly storedResponses: Pick<StoredResponses, 'read' | 'inputItems' | 'remove'>;
  readonly log: Log;
}

/** Other names after `/v1/responses/` are operations, which the gateway may not have. */
const RESPONSE_ID = 'resp_';
const writeError: ErrorWriter = (facts) => responsesDialect.writeError(facts);
const refuseMethod = onlyTheseMethods('GET', 'DELETE');

/** `/v1/responses/{id}`: reads and deletes stored responses. */
export function createResponsesRoutes(dependencies: ResponsesRoutesDependencies): Router {
  const { calls, freeRequests, storedResponses, log } = dependencies;
  const routes = Router();

  routes
    .route('/v1/responses/:id')
    .get((request, response) =>
      calls.run(
        request,
        response,
        (call) =>
          freeRequests.handle(call, async (reader) => {
            if (request.query['stream'] === 'true')
              throw new ServiceError('missing_fields', `'stream': stored responses are read whole`);
            response.json(await storedResponses.read(reader, request.params.id));
          }),
        writeError,
      ),
    )
    .delete((request, response) =>
      calls.run(
        request,
        response,
        async (call) => {
          const { caller } = await call.authenticate();
          const { id } = request.params;
          setLimitHeaders(response, call.headers);
          await storedResponses.remove(caller.userId, id);
          response.json({ id, object: 'response', deleted: true });
        },
        writeError,
      ),
    )
    .all((request, response, next) => {
      if (!request.params.id.startsWith(RESPONSE_ID)) return next();
      return refuseMethod(request, response, next);
    });
  routes
    .route('/v1/responses/:id/input_items')
    .get((request, response) =>
      calls.run(
        request,
        response,
        (call) =>
          freeRequests.handle(call, async (reader) => {
            const { id } = request.params;
            response.json(await storedResponses.inputItems(reader, id, request.query));
          }),
        writeError,
      ),
    )
    .all(onlyTheseMethods('GET'));

  // In the form of this API, because its clients ask for these paths.
  routes.use(['/v1/responses', '/v1/conversations'], ({ method, originalUrl }) => {
    throw new ServiceError('not_found', `no route ${method} ${originalUrl.split('?')[0]}`);
  });

  const onError: ErrorRequestHandler = (error, request, response, next) => {
    if (!(error instanceof ServiceError)) return next(error);
    sendRestError(error, request, response, log, writeError);
  };
  routes.use(['/v1/responses', '/v1/conversations'], onError);
  return routes;
}
