import { embeddingsRequestSchema } from '@model-gateway/contracts';
import { sendJsonParts } from '@model-gateway/http';
import {
  embedTexts,
  expectedEmbeddings,
  type Meter,
  type RequestCounter,
  type UpstreamTelemetry,
} from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { StatefulFields } from '../cache/stateless.ts';
import type { CallRoute } from '../surface/http-call.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import { embeddingList } from '../openai/embedding-list.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { inference } from '../operations/inference.ts';

interface EmbeddingsRouteDependencies {
  readonly admission: HttpAdmission;
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

// Memory is for chats.
const CACHED_EMBEDDINGS = { state: (): StatefulFields => ({ memory: false }) };

/** `POST /v1/embeddings`. */
export function createEmbeddingsRoute(dependencies: EmbeddingsRouteDependencies): CallRoute {
  const { admission } = dependencies;
  return {
    method: 'POST',
    path: inference.createEmbeddings.path,
    async handle(call) {
      const { response, surface, startedAt } = call;
      const options = { expected: expectedEmbeddings, cache: CACHED_EMBEDDINGS };
      const admitted = await admission.admit(call, embeddingsRequestSchema, options);
      if (admitted === undefined) return;
      const { caller, body, resolvedModel, fallbacks, reservation } = admitted;
      setLimitHeaders(response, call.headers);
      try {
        const { refId, signal, onEnd } = call;
        const turn = { caller, surface, request: body, resolvedModel, refId, signal, onEnd };
        const { embeddings, usage, backend, model } = await embedTexts(
          { ...turn, fallbacks, startedAt, reservation, trace: call.log.trace },
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
