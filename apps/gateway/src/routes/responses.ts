import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { responsesDialect } from '@model-gateway/dialects';
import { sendRestError } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { Router, type ErrorRequestHandler } from 'express';
import type { KeyAuthenticator } from '../key-authenticator.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { itemPage } from '../responses/item-page.ts';
import type { StoredResponses } from '../responses/stored-responses.ts';

interface ResponsesRoutesDependencies {
  readonly keyAuthenticator: Pick<KeyAuthenticator, 'authenticateOnly'>;
  readonly storedResponses: Pick<StoredResponses, 'read' | 'inputItems' | 'remove'>;
  readonly log: Log;
}

/** `/v1/responses/{id}`: reads and deletes stored responses. Reads do not count in tier limits. */
export function createResponsesRoutes(dependencies: ResponsesRoutesDependencies): Router {
  const { keyAuthenticator, storedResponses, log } = dependencies;
  const routes = Router();

  const userOf = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<string | undefined> =>
    (await keyAuthenticator.authenticateOnly(request, response))?.known.grant.holder.userId;

  routes
    .route('/v1/responses/:id')
    .get(async (request, response) => {
      const userId = await userOf(request, response);
      if (userId === undefined) return;
      if (request.query['stream'] === 'true') {
        throw new ServiceError('missing_fields', `'stream': stored responses are read whole`);
      }
      response.json(await storedResponses.read(userId, request.params.id));
    })
    .delete(async (request, response) => {
      const userId = await userOf(request, response);
      if (userId === undefined) return;
      const { id } = request.params;
      await storedResponses.remove(userId, id);
      response.json({ id, object: 'response', deleted: true });
    })
    .all(onlyTheseMethods('GET', 'DELETE'));
  routes
    .route('/v1/responses/:id/input_items')
    .get(async (request, response) => {
      const userId = await userOf(request, response);
      if (userId === undefined) return;
      const items = await storedResponses.inputItems(userId, request.params.id);
      response.json(itemPage(items, request.query));
    })
    .all(onlyTheseMethods('GET'));

  const onError: ErrorRequestHandler = (error, request, response, next) => {
    if (!(error instanceof ServiceError)) return next(error);
    sendRestError(error, request, response, log, {
      writeError: (facts) => responsesDialect.writeError(facts),
    });
  };
  routes.use('/v1/responses', onError);
  return routes;
}
