import { sendJsonText, type LeanRoute } from '@model-gateway/http';
import type { AuthenticateReader } from '../reader-authenticator.ts';
import { asksAsMessages, messagesModels } from '../dialects/messages-models.ts';
import type { ModelListing } from '../openai/model-listing.ts';
import { inference } from '../operations/inference.ts';

interface ModelsRouteDependencies {
  readonly authenticateReader: AuthenticateReader;
  readonly listing: ModelListing;
}

/** `GET /v1/models`. */
export function createModelsRoute({
  authenticateReader,
  listing,
}: ModelsRouteDependencies): LeanRoute {
  return {
    method: 'GET',
    path: inference.listModels.path,
    async handle(request, response) {
      const reader = await authenticateReader(request, response);
      if (reader === undefined) return;
      const { modelPolicy, limitHeaders } = reader;
      const text = asksAsMessages(request)
        ? JSON.stringify(messagesModels(listing.entries(modelPolicy)))
        : listing.text(modelPolicy);
      sendJsonText(response, 200, text, limitHeaders);
    },
  };
}
