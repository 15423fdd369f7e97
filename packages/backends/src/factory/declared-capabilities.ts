import { ServiceError } from '@model-gateway/contracts';
import {
  CAPABILITIES,
  isPassedCapability,
  type Backend,
  type BackendConfig,
  type BackendKind,
  type Capability,
} from '@model-gateway/router';

const REALTIME_ID = /realtime/i;
/** The kinds whose servers speak the API of the clients. */
const PASSING_KINDS: readonly BackendKind[] = ['external', 'azure', 'agent'];
/** The kinds that can pass requests of another API than chat completions to its own path. */
const WITH_DIALECTS: readonly BackendKind[] = ['external', 'azure'];
/** The kinds of cloud APIs, whose keys an operator can have several of. */
const WITH_AUTH_HEADER: readonly BackendKind[] = ['external', 'anthropic', 'azure', 'gemini'];

/**
 * The backend with the capabilities that its operator declared, or else with those of its kind: an `external` one can also
 * do realtime, with models whose id says so.
 */
export function withDeclaredCapabilities(
  backend: Backend,
  {
    capabilities: declared,
    modelCapabilities = {},
  }: Pick<BackendConfig, 'capabilities' | 'modelCapabilities'>,
): Backend {
  if (declared !== null) {
    const capabilities = new Set(
      CAPABILITIES.filter((known) => declared.includes(known) && canHave(backend.kind, known)),
    );
    const byModel = new Map(Object.entries(modelCapabilities));
    return {
      ...backend,
      capabilities: () => capabilities,
      ...(byModel.size === 0
        ? {}
        : { serves: (capability, model) => byModel.get(model)?.includes(capability) ?? true }),
    };
  }
  return backend.kind === 'external' ? withRealtime(backend) : backend;
}

/** Refuses a new registration with a header that its kind does not use. */
export function assertAuthHeader(kind: BackendKind, authHeader: string | undefined): void {
  if (authHeader === undefined || WITH_AUTH_HEADER.includes(kind)) return;
  throw new ServiceError(
    'missing_fields',
    `'auth_header': only a backend of the kinds ${WITH_AUTH_HEADER.join(', ')} takes it, not '${kind}'`,
  );
}

/** Refuses a new registration with several keys where a task belongs to one of them, or where there is none. */
export function assertApiKeys(kind: BackendKind, apiKeys: readonly string[] | undefined): void {
  if (apiKeys === undefined || WITH_AUTH_HEADER.includes(kind)) return;
  throw new ServiceError(
    'missing_fields',
    `'api_keys': only a backend of the kinds ${WITH_AUTH_HEADER.join(', ')} takes it, not '${kind}'`,
  );
}

/** Refuses a new registration with APIs that its kind cannot pass on. */
export function assertDialects(
  kind: BackendKind,
  dialects: readonly string[] | undefined = [],
): void {
  if (dialects.length === 0 || WITH_DIALECTS.includes(kind)) return;
  throw new ServiceError(
    'missing_fields',
    `'dialects': only a backend of the kinds ${WITH_DIALECTS.join(', ')} takes it, not '${kind}'`,
  );
}

/** Refuses a new registration with a capability that its kind cannot have. Older registrations lose it. */
export function assertCapabilities(kind: BackendKind, declared: readonly string[] | null): void {
  const wrong = CAPABILITIES.find((known) => declared?.includes(known) && !canHave(kind, known));
  if (wrong === undefined) return;
  const able = wrong === 'video' ? 'cloud-video' : 'external';
  throw new ServiceError(
    'missing_fields',
    `'capabilities': a backend of the kind '${kind}' does not support '${wrong}'; use the kind '${able}'`,
  );
}

/** Video jobs need calls that only one kind has, and requests pass unchanged only to servers that speak the same API. */
function canHave(kind: BackendKind, capability: Capability): boolean {
  if (capability === 'video') return kind === 'cloud-video';
  return !isPassedCapability(capability) || PASSING_KINDS.includes(kind);
}

function withRealtime(backend: Backend): Backend {
  let isRealtime = false;
  return {
    ...backend,
    serves: (capability, model) => capability !== 'realtime' || REALTIME_ID.test(model),
    capabilities() {
      const usual = backend.capabilities();
      return isRealtime ? new Set<Capability>([...usual, 'realtime']) : usual;
    },
    async probe(signal) {
      const probe = await backend.probe(signal);
      if (probe.models.length > 0) isRealtime = probe.models.some((id) => REALTIME_ID.test(id));
      return probe;
    },
  };
}
