import { ServiceError } from '@model-gateway/contracts';
import type { Clock, Tracing } from '@model-gateway/kernel';
import {
  BACKEND_DIALECTS,
  type Backend,
  type BackendConfig,
  type BackendKind,
  type Capability,
} from '@model-gateway/router';
import { createAgentBackend } from '../agent/agent-backend.ts';
import { registeredKind } from './backend-kind.ts';
import { createCloudVideoBackend } from '../cloud-video/cloud-video-backend.ts';
import { withDeclaredCapabilities } from './declared-capabilities.ts';
import { createEngineBackend } from '../engine/engine-backend.ts';
import { createAnthropicBackend } from '../anthropic/anthropic-backend.ts';
import { createAzureBackend } from '../azure/azure-backend.ts';
import { createExternalBackend, type ExternalOptions } from '../external/external-backend.ts';
import { createGeminiBackend } from '../gemini/gemini-backend.ts';
import { createLocalServerBackend } from '../local-server/local-server-backend.ts';
import type { AnswerMemory } from '../transport/answers/answer-memory.ts';
import { withKeys } from './with-keys.ts';
import type { UpstreamTimeouts } from '../transport/upstream-http.ts';
import { backendUrl, isBridgeUrl, upstreamPrefix } from '../transport/upstream-url.ts';

/** The options of every backend. */
export interface CreateBackendOptions {
  readonly timeouts: UpstreamTimeouts;
  /** How large a whole answer may be; 32 MiB by default. */
  readonly answerBytesMax?: number | undefined;
  /** Limits the memory of large answers of all backends together. */
  readonly answerMemory?: AnswerMemory | undefined;
  readonly clock: Clock;
  /** Traces the calls, if tracing is on. */
  readonly tracing?: Tracing | undefined;
}

const CHAT_AND_EMBEDDINGS: ReadonlySet<Capability> = new Set(['chat', 'embeddings']);

/** The kinds that differ only in the API behind a URL. */
const HTTP_KINDS = {
  external: (url: URL, options: Omit<ExternalOptions, 'prefix'>) =>
    createExternalBackend({ ...options, prefix: upstreamPrefix(url) }),
  anthropic: (url: URL, options: Omit<ExternalOptions, 'prefix'>) =>
    createAnthropicBackend({ ...options, prefix: upstreamPrefix(url) }),
  azure: (url: URL, options: Omit<ExternalOptions, 'prefix'>) =>
    createAzureBackend({ ...options, url }),
  gemini: (url: URL, options: Omit<ExternalOptions, 'prefix'>) =>
    createGeminiBackend({ ...options, url }),
};

/** Builds the backend that a registration describes; nothing is connected yet. */
export function createBackend(config: BackendConfig, options: CreateBackendOptions): Backend {
  const kind = registeredKind(config.type);
  const url = backendUrl(kind, config.url);
  if (isBridgeUrl(url)) throw new ServiceError('bad_url', 'a bridge URL must be resolved first');
  const [apiKey = config.apiKey, ...otherKeys] = config.apiKeys ?? [];
  const withKey = (key: string | null): Backend =>
    createKind(kind, { ...config, apiKey: key }, url, options);
  const first = withKey(apiKey);
  const backend = otherKeys.length === 0 ? first : withKeys(first, otherKeys.map(withKey));
  return withDeclaredCapabilities(backend, config);
}

function createKind(
  kind: BackendKind,
  { name, apiKey, authHeader, models, dialects: declared = [] }: BackendConfig,
  url: URL,
  { timeouts, answerBytesMax, answerMemory, clock, tracing }: CreateBackendOptions,
): Backend {
  switch (kind) {
    case 'local-server':
      return createLocalServerBackend({
        name,
        url,
        apiKey,
        timeouts,
        answerBytesMax,
        answerMemory,
        clock,
        tracing,
      });
    case 'engine':
      return createEngineBackend({ name, url, apiKey, models, timeouts, answerBytesMax, clock });
    case 'cloud-video':
      return createCloudVideoBackend({
        name,
        prefix: upstreamPrefix(url),
        apiKey,
        models,
        timeouts,
        tracing,
      });
    case 'external':
    case 'anthropic':
    case 'azure':
    case 'gemini': {
      const capabilities = CHAT_AND_EMBEDDINGS;
      const { search } = url;
      const called = { search, apiKey, authHeader };
      const dialects = new Set(BACKEND_DIALECTS.filter((known) => declared.includes(known)));
      const served = { name, ...called, models, capabilities, dialects };
      const isListingOptional = true;
      const answers = { answerBytesMax, answerMemory };
      return HTTP_KINDS[kind](url, {
        ...served,
        ...answers,
        isListingOptional,
        timeouts,
        clock,
        tracing,
      });
    }
    case 'agent':
      return createAgentBackend({
        name,
        prefix: upstreamPrefix(url),
        apiKey,
        models,
        timeouts,
        answerBytesMax,
        answerMemory,
        clock,
        tracing,
      });
  }
}
