import { ServiceError } from '@model-gateway/contracts';
import {
  CAPABILITIES,
  type Backend,
  type BackendConfig,
  type Capability,
} from '@model-gateway/router';
import type { BackendKindDefinition, KindOption } from '../kind-definition.ts';
import { KINDS } from '../kinds.ts';

const REALTIME_ID = /realtime/i;

/**
 * The backend with the capabilities that its operator declared, or else with those of its kind, some of which also do
 * realtime, with models whose id says so.
 */
export function withDeclaredCapabilities(
  backend: Backend,
  { capabilities: able, findsRealtime = false }: BackendKindDefinition,
  {
    capabilities: declared,
    modelCapabilities = {},
  }: Pick<BackendConfig, 'capabilities' | 'modelCapabilities'>,
): Backend {
  if (declared !== null) {
    const capabilities = new Set(
      CAPABILITIES.filter((known) => declared.includes(known) && able.has(known)),
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
  return findsRealtime ? withRealtime(backend) : backend;
}

/** Refuses a new registration with options that its kind does not take, such as several keys where a task belongs to one. */
export function assertOptions(kind: BackendKindDefinition, config: BackendConfig): void {
  assertOption(kind, 'auth_header', config.authHeader !== undefined);
  assertOption(kind, 'api_keys', config.apiKeys !== undefined);
  assertOption(kind, 'dialects', (config.dialects ?? []).length > 0);
}

function assertOption(kind: BackendKindDefinition, option: KindOption, isGiven: boolean): void {
  if (!isGiven || option in kind.options.shape) return;
  const able = KINDS.filter(({ options }) => option in options.shape).map(({ name }) => name);
  throw new ServiceError(
    'missing_fields',
    `'${option}': only a backend of the kinds ${able.join(', ')} takes it, not '${kind.name}'`,
  );
}

/** Refuses a new registration with a capability that its kind cannot have. Older registrations lose it. */
export function assertCapabilities(
  { name, capabilities }: BackendKindDefinition,
  declared: readonly string[] | null,
): void {
  const wrong = CAPABILITIES.find((known) => declared?.includes(known) && !capabilities.has(known));
  if (wrong === undefined) return;
  const able = KINDS.find((kind) => kind.capabilities.has(wrong))?.name;
  throw new ServiceError(
    'missing_fields',
    `'capabilities': a backend of the kind '${name}' does not support '${wrong}'; use the kind '${able}'`,
  );
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
