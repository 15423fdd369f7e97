import { embeddingsRequestSchema } from '@model-gateway/contracts';
import { answerJson, clientGone, readJson, validated, type LeanRoute } from '@model-gateway/http';
import {
  assertModelAllowed,
  embedTexts,
  type Meter,
  type RequestCounter,
} from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { KeyGate } from '../key-gate.ts';
import { embeddingList } from '../openai/embedding-list.ts';
import { nameBackend } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';

interface EmbeddingsRouteDependencies {
  readonly keyGate: KeyGate;
  readonly router: Pick<Router, 'choose' | 'aliases'>;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly bodyBytesMax: number;
}

/** `POST /v1/embeddings`. */
export function createEmbeddingsRoute(dependencies: EmbeddingsRouteDependencies): LeanRoute {
  const { keyGate, router, bodyBytesMax } = dependencies;
  return {
    method: 'POST',
    path: '/v1/embeddings',
    async handle(request, response) {
      const caller = await keyGate(request, response);
      if (caller === undefined) return;
      const refId = serviceRefOf(request);
      const body = validated(embeddingsRequestSchema, await readJson(request, bodyBytesMax));
      assertModelAllowed(caller, body.model, router.aliases.resolve(body.model));
      const signal = clientGone(response);
      const turn = { caller, surface: 'gateway', request: body, refId, signal };
      const { embeddings, usage, backend } = await embedTexts(turn, dependencies);
      nameBackend(response, backend);
      answerJson(response, 200, embeddingList(embeddings, usage, body.encoding_format ?? 'float'));
    },
  };
}
