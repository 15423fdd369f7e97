import { ServiceError } from '@model-gateway/contracts';
import { responsesDialect } from '@model-gateway/dialects';
import { sendRestError } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { Router, type ErrorRequestHandler } from 'express';
import type { FreeRequests } from '../free-requests.ts';
import type { KeyAuthenticator } from '../key-authenticator.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';
import type { StoredResponses } from '../responses/stored-responses.ts';

interface ResponsesRoutesDependencies {
  readonly keyAuthenticator: Pick<KeyAuthenticator, 'authenticateOnly'>;
  /** Reads count in the limits as requests do, because they can be large. */
  readonly freeRequests: FreeRequests;
  readonly storedResponses: Pick<StoredResponses, 'read' | 'inputItems' | 'remove'>;
  readonly log: Log;
}

/** Other names after `/v1/responses/` are operations, which the gateway may not have. */
const RESPONSE_ID = 'resp_';
const refuseMethod = onlyTheseMethods('GET', 'DELETE');

/** `/v1/responses/{id}`: reads and deletes stored responses. */
export function createResponsesRoutes(dependencies: ResponsesRoutesDependencies): Router {
  const { keyAuthenticator, freeRequests, storedResponses, log } = dependencies;
  const routes = Router();

  routes
    .route('/v1/responses/:id')
    .get(async (request, response) => {
      await freeRequests.handle(request, response, async (reader) => {
        if (request.query['stream'] === 'true') {
          throw new ServiceError('missing_fields', `'stream': stored responses are read whole`);
        }
        response.json(await storedResponses.read(reader, request.params.id));
      });
    })
    .delete(async (request, response) => {
      const keyed = await keyAuthenticator.authenticateOnly(request, response);
      if (keyed === undefined) return;
      const { id } = request.params;
      await storedResponses.remove(keyed.known.grant.holder.userId, id);
      response.json({ id, object: 'response', deleted: true });
    })
    .all((request, response, next) => {
      if (!request.params.id.startsWith(RESPONSE_ID)) return next();
      return refuseMethod(request, response, next);
    });
  routes
    .route('/v1/responses/:id/input_items')
    .get(async (request, response) => {
      const { id } = request.params;
      await freeRequests.handle(request, response, async (reader) => {
        response.json(await storedResponses.inputItems(reader, id, request.query));
      });
    })
    .all(onlyTheseMethods('GET'));

  // In the form of this API, because its clients ask for these paths.
  routes.use(['/v1/responses', '/v1/conversations'], ({ method, originalUrl }) => {
    throw new ServiceError('not_found', `no route ${method} ${originalUrl.split('?')[0]}`);
  });

  const onError: ErrorRequestHandler = (error, request, response, next) => {
    if (!(error instanceof ServiceError)) return next(error);
    sendRestError(error, request, response, log, (facts) => responsesDialect.writeError(facts));
  };
  routes.use(['/v1/responses', '/v1/conversations'], onError);
  return routes;
}
