import { sendJsonText, type LeanRoute } from '@model-gateway/http';
import type { Identities } from '../surface/identity.ts';
import { asksAsMessages, messagesModels } from '../dialects/messages-models.ts';
import type { ModelListing } from '../openai/model-listing.ts';
import { inference } from '../operations/inference.ts';

interface ModelsRouteDependencies {
  readonly identities: Pick<Identities, 'readerOf'>;
  readonly listing: ModelListing;
}

/** `GET /v1/models`. */
export function createModelsRoute({ identities, listing }: ModelsRouteDependencies): LeanRoute {
  return {
    method: 'GET',
    path: inference.listModels.path,
    async handle(request, response) {
      const reader = await identities.readerOf(request, response);
      const { modelPolicy, limitHeaders } = reader;
      const text = asksAsMessages(request)
        ? JSON.stringify(messagesModels(listing.entries(modelPolicy)))
        : listing.text(modelPolicy);
      sendJsonText(response, 200, text, limitHeaders);
    },
  };
}
