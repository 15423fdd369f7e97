import { sendJsonText, type LeanRoute } from '@model-gateway/http';
import type { ReaderGate } from '../reader-gate.ts';
import type { ModelListing } from '../openai/model-listing.ts';

interface ModelsRouteDependencies {
  readonly readerGate: ReaderGate;
  readonly listing: ModelListing;
}

/** `GET /v1/models`. */
export function createModelsRoute({ readerGate, listing }: ModelsRouteDependencies): LeanRoute {
  return {
    method: 'GET',
    path: '/v1/models',
    async handle(request, response) {
      const reader = await readerGate(request, response);
      if (reader === undefined) return;
      const { modelPolicy, limitHeaders } = reader;
      sendJsonText(response, 200, listing.text(modelPolicy), limitHeaders);
    },
  };
}
