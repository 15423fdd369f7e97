import { HTTP_SCHEMES, TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createCloudVideoBackend } from './cloud-video-backend.ts';

/** An API of video tasks. */
export const CLOUD_VIDEO: BackendKindDefinition = {
  name: 'cloud-video',
  schemes: HTTP_SCHEMES,
  capabilities: new Set([...TRANSLATING, 'video']),
  options: [],
  facts: {},
  create: ({ name, apiKey, models }, url, { timeouts, tracing }) =>
    createCloudVideoBackend({
      name,
      prefix: upstreamPrefix(url),
      apiKey,
      models,
      timeouts,
      tracing,
    }),
};
