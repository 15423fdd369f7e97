import { embeddingsRequestSchema } from '@model-gateway/contracts';
import {
  embedTexts,
  expectedEmbeddings,
  runCall,
  type CallServices,
  type StatefulFields,
} from '@model-gateway/inference';
import type { CallRoute } from '../surface/http-call.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';
import { embeddingList } from '../openai/embedding-list.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { inference } from '../operations/inference.ts';

interface EmbeddingsRouteDependencies extends CallServices {
  readonly admission: HttpAdmission;
}

// Memory is for chats.
const CACHED_EMBEDDINGS = { state: (): StatefulFields => ({ memory: false }) };

/** `POST /v1/embeddings`. */
export function createEmbeddingsRoute(dependencies: EmbeddingsRouteDependencies): CallRoute {
  return {
    method: 'POST',
    path: inference.createEmbeddings.path,
    handle(call) {
      const options = { expected: expectedEmbeddings, cache: CACHED_EMBEDDINGS };
      const admitting = dependencies.admission.admit(call, embeddingsRequestSchema, options);
      return runCall(call, admitting, dependencies, async (running) => {
        const { embeddings, usage, ...served } = await embedTexts(running);
        const format = running.body.encoding_format ?? 'float';
        const headers = [...call.headers, ...routeHeaders(served)];
        const parts = await embeddingList(embeddings, usage, format);
        call.answer.json(headers, parts);
      });
    },
  };
}
