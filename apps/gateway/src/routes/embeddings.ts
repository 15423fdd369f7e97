import { embeddingsRequestSchema } from '@model-gateway/contracts';
import { sendJsonParts, disconnectSignal, type LeanRoute } from '@model-gateway/http';
import {
  embedTexts,
  expectedEmbeddings,
  type Meter,
  type RequestCounter,
  type UpstreamTelemetry,
} from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { StatefulFields } from '../cache/stateless.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import type { RequestAuthorizer } from '../request-authorizer.ts';
import { embeddingList } from '../openai/embedding-list.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { serviceRefOf } from '../openai/service-ref.ts';
import { inference } from '../operations/inference.ts';

interface EmbeddingsRouteDependencies {
  readonly authorizer: RequestAuthorizer;
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

// Memory is for chats.
const CACHED_EMBEDDINGS = { state: (): StatefulFields => ({ memory: false }) };

/** `POST /v1/embeddings`. */
export function createEmbeddingsRoute(dependencies: EmbeddingsRouteDependencies): LeanRoute {
  const { authorizer } = dependencies;
  return {
    method: 'POST',
    path: inference.createEmbeddings.path,
    async handle(request, response) {
      const authorized = await authorizer.authorizeRequest(
        request,
        response,
        embeddingsRequestSchema,
        { expected: expectedEmbeddings, cache: CACHED_EMBEDDINGS },
      );
      if (authorized === undefined) return;
      setLimitHeaders(response, authorized.limitHeaders);
      const { caller, body, resolvedModel, fallbacks, startedAt, reservation } = authorized;
      try {
        const refId = serviceRefOf(request);
        const client = disconnectSignal(response);
        const turn = { caller, surface: 'gateway', request: body, resolvedModel, refId, ...client };
        const { embeddings, usage, backend, model } = await embedTexts(
          { ...turn, fallbacks, startedAt, reservation, trace: authorized.trace },
          dependencies,
        );
        const [name = '', value = '', routeName = '', route = ''] = routeHeaders({
          backend,
          model,
        });
        response.setHeader(name, value);
        response.setHeader(routeName, route);
        const format = body.encoding_format ?? 'float';
        sendJsonParts(response, 200, await embeddingList(embeddings, usage, format));
      } finally {
        reservation.end();
      }
    },
  };
}
