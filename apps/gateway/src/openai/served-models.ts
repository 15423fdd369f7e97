import type { PricedBackend } from '@model-gateway/billing';
import { CAPABILITIES, type BackendStatus, type Capability } from '@model-gateway/router';

/** A model as the backends that serve it offer it together. */
export interface ServedModel {
  /** The first backend that serves it. */
  readonly owner: string;
  /** All that serve it. */
  readonly backends: readonly PricedBackend[];
  readonly registeredAt: Date;
  readonly capabilities: readonly Capability[];
  readonly contextLength: number | undefined;
}

/** What a listing needs to know about a backend. */
export type ListedBackend = Pick<
  BackendStatus,
  'backend' | 'isRoutable' | 'models' | 'contextLengths' | 'registeredAt' | 'can'
>;

/** The models of the healthy backends by id, each once. */
export function servedModels(backends: readonly ListedBackend[]): Map<string, ServedModel> {
  const served = new Map<string, ServedModel>();
  for (const backend of backends) {
    if (!backend.isRoutable) continue;
    for (const id of backend.models) served.set(id, offer(backend, id, served.get(id)));
  }
  return served;
}

function offer(from: ListedBackend, id: string, others: ServedModel | undefined): ServedModel {
  const contextLength = from.contextLengths.get(id);
  const has = (capability: Capability): boolean =>
    others?.capabilities.includes(capability) === true || from.can(capability, id);
  return {
    owner: others?.owner ?? from.backend.name,
    backends: [...(others?.backends ?? []), from.backend],
    registeredAt: others?.registeredAt ?? from.registeredAt,
    capabilities: CAPABILITIES.filter(has),
    // Any of them may get a request, so the smallest is what clients can rely on.
    contextLength: smallest(contextLength, others?.contextLength),
  };
}

function smallest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
