import { BACKEND_DIALECTS, CAPABILITIES, type Capability } from '@model-gateway/router';
import { HTTP_SCHEMES, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createExternalBackend, type ExternalOptions } from './external-backend.ts';

const CHAT_AND_EMBEDDINGS: ReadonlySet<Capability> = new Set(['chat', 'embeddings']);

/** What a server of the API of the clients can do: all but video jobs, which need calls of their own. */
export const PASSING: ReadonlySet<Capability> = new Set(
  CAPABILITIES.filter((capability) => capability !== 'video'),
);

/** Any HTTP API that follows the chat-completions convention. */
export const EXTERNAL: BackendKindDefinition = {
  name: 'external',
  aliases: ['llama_cpp', 'vllm', 'cloud', 'external_api'],
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: ['auth_header', 'api_keys', 'dialects'],
  facts: { takesTokenIds: true },
  findsRealtime: true,
  create: (config, url, options) =>
    createExternalBackend({ ...cloudOptions(config, url, options), prefix: upstreamPrefix(url) }),
};

/** The options of the kinds that differ only in the API behind a URL. */
export function cloudOptions(
  ...[{ name, apiKey, authHeader, models, dialects = [] }, { search }, options]: Parameters<
    BackendKindDefinition['create']
  >
): Omit<ExternalOptions, 'prefix'> {
  return {
    ...options,
    name,
    search,
    apiKey,
    authHeader,
    models,
    capabilities: CHAT_AND_EMBEDDINGS,
    dialects: new Set(BACKEND_DIALECTS.filter((known) => dialects.includes(known))),
    isListingOptional: true,
  };
}
