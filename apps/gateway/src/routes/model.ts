import { ServiceError, type ModelEntry } from '@model-gateway/contracts';
import { Router } from 'express';
import { setLimitHeaders } from '../limit-headers.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { asksAsMessages, messagesModel } from '../dialects/messages-models.ts';
import type { AuthenticateReader } from '../reader-authenticator.ts';
import type { ModelListing } from '../openai/model-listing.ts';

interface ModelRouteDependencies {
  readonly authenticateReader: AuthenticateReader;
  readonly listing: ModelListing;
}

/** `GET /v1/models/{id}`: one entry of the listing, which official clients request. */
export function createModelRoute({ authenticateReader, listing }: ModelRouteDependencies): Router {
  const routes = Router();
  routes
    .route('/v1/models/*id')
    .get(async (request, response) => {
      const reader = await authenticateReader(request, response);
      if (reader === undefined) return;
      setLimitHeaders(response, reader.limitHeaders);
      const requestedId = request.params.id.join('/');
      const model = listing.find(reader.modelPolicy, requestedId);
      if (model === undefined) {
        throw new ServiceError('model_not_found', `No backend available for model: ${requestedId}`);
      }
      response.json(asksAsMessages(request) ? messagesModel(model) : (model satisfies ModelEntry));
    })
    .all(onlyTheseMethods('GET'));
  return routes;
}
