import {
  HTTP_SCHEMES,
  NO_OPTIONS,
  TRANSLATING,
  type BackendKindDefinition,
} from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createCloudVideoBackend } from './cloud-video-backend.ts';

/** An API of video tasks. */
export const CLOUD_VIDEO: BackendKindDefinition = {
  name: 'cloud-video',
  form: {
    title: 'Video cloud',
    purpose: 'A video API with tasks, in the manner of MiniMax.',
    exampleUrl: 'https://api.minimax.io',
    apiKey: { title: 'API key', isUsual: true },
    needsModels: true,
  },
  schemes: HTTP_SCHEMES,
  capabilities: new Set([...TRANSLATING, 'video']),
  options: NO_OPTIONS,
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
