import { UPSTREAM_APIS, CAPABILITIES, type Capability } from '@model-gateway/router';
import { HTTP_SCHEMES, PASSING_OPTIONS, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createExternalBackend, type ExternalOptions } from './external-backend.ts';

const CHAT_AND_EMBEDDINGS: ReadonlySet<Capability> = new Set(['chat', 'embeddings']);

/** What a server of the API of the clients can do: all but video jobs, which need calls of their own. */
export const PASSING: ReadonlySet<Capability> = new Set(
  CAPABILITIES.filter((capability) => capability !== 'video'),
);

/** What is worth declaring of them: `invoke` is for engines. */
export const OFFERED: readonly Capability[] = [...PASSING].filter(
  (capability) => capability !== 'invoke',
);

/** Any HTTP API that follows the chat-completions convention. */
export const EXTERNAL: BackendKindDefinition = {
  name: 'external',
  aliases: ['llama_cpp', 'vllm', 'cloud', 'external_api'],
  form: {
    title: 'OpenAI-compatible server or cloud',
    purpose: 'OpenAI and everything that speaks its API: vLLM, llama.cpp, other clouds.',
    exampleUrl: 'https://api.openai.com/v1',
    apiKey: { title: 'API key', isUsual: true },
    capabilities: OFFERED,
  },
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: PASSING_OPTIONS,
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
    apis: new Set(UPSTREAM_APIS.filter((known) => dialects.includes(known))),
    isListingOptional: true,
  };
}
