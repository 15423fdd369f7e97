import { type ProviderHint, ServiceError } from '@model-gateway/contracts';
import type { BackendEntry } from '../registry/backend-list.ts';
import { type Capability, isRelayedCapability } from '../registry/backend.ts';
import { modelMatcher } from './aliases.ts';
import { matchesProvider } from './provider-match.ts';
import { howToServe } from './quick-start-models.ts';
import type { ChoiceTrace, SkipReason } from './choice-trace.ts';
import type { RoutedModel, RouteRule } from '../routes/route-rule.ts';

/** The names of a model that may serve a request. */
export interface ServedName {
  /** As the request has it. */
  readonly requested: string;
  /** The target of its alias, or the same id. */
  readonly aliasTarget: string;
  /** As the backend lists it. */
  readonly served: string;
}

/** Whether the rules of a caller let a model serve a request. */
export type AllowsModel = (name: ServedName) => boolean;

/** The requirements for a backend. */
export interface BackendQuery {
  /** The model id from the request. */
  readonly requested: string;
  /** The target of its alias, or the same id. */
  readonly model: string;
  readonly capability?: Capability | undefined;
  /** Which backends may serve it, by name or kind. */
  readonly provider?: ProviderHint | undefined;
  /** The route of the model. */
  readonly rule?: RouteRule | undefined;
  /** Leaves out backends whose model the caller may not use; all may serve without it. */
  readonly allows?: AllowsModel | undefined;
  /** Gets the backends that were skipped. */
  readonly trace?: ChoiceTrace | undefined;
}

/** A backend that could serve a request, and its id of the model. */
export interface Candidate {
  readonly entry: BackendEntry;
  readonly model: string;
  /** Of the route, where there is one. */
  readonly routed?: RoutedModel | undefined;
  /** Why it gets no request now; undefined if it may get one. */
  obstacle?: SkipReason | undefined;
}

/** A backend that a request was sent to, and its id of the model. */
export interface TargetName {
  readonly backend: string;
  readonly model: string;
}

/** Refuses a request that none of these backends can serve, whatever their state. */
export function assertServed(
  entries: readonly BackendEntry[],
  query: BackendQuery,
  considered: readonly Candidate[],
): void {
  const { requested, capability } = query;
  const serving = considered.filter(({ obstacle }) => obstacle !== 'not_preferred');
  if (serving.length === 0) throw notServed(entries, query);
  if (capability === undefined) return;
  if (serving.some(({ obstacle }) => obstacle !== 'no_capability')) return;
  // The capabilities of an unavailable backend may be unknown.
  if (serving.every(({ entry }) => entry.report.state !== 'Healthy')) {
    throw allUnhealthy();
  }
  throw new ServiceError('unsupported_operation', unsupported(capability, requested));
}

const RETRY_SECS_DEFAULT = 5;
const MS_PER_SECOND = 1_000;

/** The error when no backend can be asked now; the time is that until one can be tried again, where it is known. */
export function allUnhealthy(waitMs = RETRY_SECS_DEFAULT * MS_PER_SECOND): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / MS_PER_SECOND));
  return new ServiceError('all_backends_unhealthy', 'all backends unhealthy', {
    details: { retry_after_secs: seconds },
  });
}

/** Whether a healthy backend matches the query. */
export const isServed = (entries: readonly BackendEntry[], query: BackendQuery): boolean =>
  findListing(entries, query).some(({ entry, model }) => {
    if (!isPreferred(entry, query)) return false;
    const isAble = query.capability === undefined || entry.can(query.capability, model);
    return isAble && entry.report.state === 'Healthy';
  });

/** Whether the hint of the request lets a backend serve it. */
export const isPreferred = (
  { backend }: BackendEntry,
  { provider }: Pick<BackendQuery, 'provider'>,
): boolean => provider === undefined || matchesProvider(backend, provider);

/** The backends that list a model which may serve the request, regardless of its hint and of their capabilities. */
export function findListing(
  entries: readonly BackendEntry[],
  query: BackendQuery,
): readonly Candidate[] {
  const { requested, model: aliasTarget, allows, rule } = query;
  const all =
    rule === undefined
      ? listing(entries, aliasTarget)
      : rule.targets.flatMap((routed) => {
          const { backend: name } = routed;
          const named = entries.filter(
            ({ backend }) => name === undefined || backend.name === name,
          );
          return listing(named, routed.model, routed);
        });
  return allows === undefined
    ? all
    : all.filter(({ model: served }) => allows({ requested, aliasTarget, served }));
}

function listing(
  entries: readonly BackendEntry[],
  requested: string,
  routed?: RoutedModel,
): readonly Candidate[] {
  const found: Candidate[] = [];
  const match = modelMatcher(requested);
  for (const entry of entries) {
    const model = match(entry.models);
    if (model !== undefined) found.push({ entry, model, routed, obstacle: undefined });
  }
  return found;
}

function notServed(entries: readonly BackendEntry[], query: BackendQuery): ServiceError {
  const { requested, model, allows } = query;
  const all = findListing(entries, { ...query, allows: undefined });
  if (allows !== undefined && all.some(({ entry }) => isPreferred(entry, query))) {
    const refusal = `the rules of your key or group allow no model that serves: ${requested}`;
    return new ServiceError('model_not_allowed', refusal);
  }
  const message = `No backend available for model: ${requested}`;
  // A provider hint may have left out the backends that serve it.
  const match = modelMatcher(model);
  const isServedElsewhere = entries.some((entry) => match(entry.models) !== undefined);
  const advice = isServedElsewhere ? undefined : howToServe(model);
  return new ServiceError(
    'model_not_found',
    advice === undefined ? message : `${message}. ${advice}`,
  );
}

/** The error for a model that is served, but without this capability. */
function unsupported(capability: Capability, model: string): string {
  if (capability === 'realtime') return `model '${model}' does not support realtime sessions`;
  if (capability === 'invoke')
    return `the backend of model '${model}' does not support generic invocation`;
  const message = `no backend of the model '${model}' supports ${capability}`;
  // These capabilities are never assumed, so that usually the registration does not declare them.
  return isRelayedCapability(capability)
    ? `${message}; if its server does, add '${capability}' to the capabilities of its backend`
    : message;
}
