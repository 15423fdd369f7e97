import { ServiceError, type ModelEntry } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { Router, type ErrorRequestHandler } from 'express';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { asksAsMessages, messagesModel, modelsErrorWriter } from '../dialects/messages-models.ts';
import type { Identities } from '../surface/identity.ts';
import { isPlain, sendError } from '../surface/refusals.ts';
import type { ModelListing } from '../openai/model-listing.ts';

interface ModelRouteDependencies {
  readonly identities: Pick<Identities, 'readerOf'>;
  readonly listing: ModelListing;
  readonly log: Log;
}

/** `GET /v1/models/{id}`: one entry of the listing, which official clients request. */
export function createModelRoute({ identities, listing, log }: ModelRouteDependencies): Router {
  const routes = Router();
  routes
    .route('/v1/models/*id')
    .get(async (request, response) => {
      const reader = await identities.readerOf(request, response);
      setLimitHeaders(response, reader.limitHeaders);
      const requestedId = request.params.id.join('/');
      const model = listing.find(reader.modelPolicy, requestedId);
      if (model === undefined) {
        throw new ServiceError('model_not_found', `No backend available for model: ${requestedId}`);
      }
      response.json(asksAsMessages(request) ? messagesModel(model) : (model satisfies ModelEntry));
    })
    .all(onlyTheseMethods('GET'));
  const onError: ErrorRequestHandler = (error, request, response, next) => {
    const writeError = modelsErrorWriter(request);
    if (writeError === undefined && !isPlain(error, response)) return next(error);
    sendError(error, request, response, log, writeError);
  };
  routes.use(onError);
  return routes;
}
