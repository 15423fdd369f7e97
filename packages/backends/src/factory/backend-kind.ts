import { ServiceError } from '@model-gateway/contracts';
import type { BackendKind } from '@model-gateway/router';

// Besides the kinds, engine names that a planner may use instead.
const KINDS: Readonly<Record<string, BackendKind>> = {
  external: 'external',
  llama_cpp: 'external',
  vllm: 'external',
  cloud: 'external',
  external_api: 'external',
  anthropic: 'anthropic',
  azure: 'azure',
  gemini: 'gemini',
  'local-server': 'local-server',
  ollama: 'local-server',
  'ollama-like': 'local-server',
  engine: 'engine',
  candle: 'engine',
  native: 'engine',
  'cloud-video': 'cloud-video',
};

const REMOVED_TYPES: readonly string[] = ['comfyui'];

/** The kind of backend for an operator's type. */
export function resolveKind(type: string): BackendKind {
  if (REMOVED_TYPES.includes(type)) {
    throw new ServiceError('unknown_type', `backend type '${type}' was removed`);
  }
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind !== undefined) return kind;
  const known = Object.keys(KINDS).join(', ');
  throw new ServiceError('unknown_type', `unknown backend type '${type}'; use one of ${known}`);
}

/** The kind of a registered backend, including those that the service registers. */
export const registeredKind = (type: string): BackendKind =>
  type === 'agent' ? 'agent' : resolveKind(type);
