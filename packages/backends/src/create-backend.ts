import { ServiceError } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import type { Backend, BackendConfig, Capability } from '@model-gateway/router';
import { createExternalBackend } from './external/external-backend.ts';
import type { UpstreamTimeouts } from './upstream-http.ts';
import { upstreamPrefix } from './upstream-url.ts';

interface CreateBackendOptions {
  readonly timeouts: UpstreamTimeouts;
  readonly clock: Clock;
}

// The engine names that a planner may say instead of a kind.
const KINDS: Readonly<Record<string, string>> = {
  external: 'external',
  llama_cpp: 'external',
  vllm: 'external',
  cloud: 'external',
  external_api: 'external',
  'local-server': 'local-server',
  ollama: 'local-server',
  'ollama-like': 'local-server',
  engine: 'engine',
  candle: 'engine',
  native: 'engine',
  'cloud-video': 'cloud-video',
};

const REMOVED_TYPES: readonly string[] = ['comfyui'];

/** The kind of backend that a registered type means. */
export function resolveKind(type: string): string {
  if (REMOVED_TYPES.includes(type)) {
    throw new ServiceError('unknown_type', `backend type '${type}' was removed`);
  }
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) throw new ServiceError('unknown_type', `unknown backend type '${type}'`);
  return kind;
}

/** Builds the backend that a registration describes; nothing is connected yet. */
export function createBackend(
  config: BackendConfig,
  { timeouts, clock }: CreateBackendOptions,
): Backend {
  const kind = resolveKind(config.type);
  if (kind !== 'external') {
    throw new ServiceError(
      'not_available_yet',
      `backends of the kind '${kind}' are not available yet`,
    );
  }
  const prefix = upstreamPrefix(config.url);
  if (prefix === undefined) {
    throw new ServiceError('bad_url', `the URL of the backend must start with http:// or https://`);
  }
  const { name, apiKey, models } = config;
  const capabilities = new Set<Capability>(['chat', 'embeddings']);
  return createExternalBackend({ name, prefix, apiKey, models, capabilities, timeouts, clock });
}
