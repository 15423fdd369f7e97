import { isModelAllowed, type ModelPolicy } from '@model-gateway/accounts';
import type { ModelList } from '@model-gateway/contracts';
import type { RoutedBackend, Router } from '@model-gateway/router';
import { routableModels } from '../routable-models.ts';
import { QUICK_START_MODELS, QUICK_START_OWNER } from './quick-start-models.ts';

/** Returns the model list as JSON text. */
export type ModelListing = (policy: ModelPolicy | null) => string;

type Listed = Pick<RoutedBackend, 'backend' | 'state' | 'models'>;

interface Rendered {
  readonly backends: readonly Listed[];
  readonly list: ModelList;
  readonly forAll: string;
  /** By the rules of a group; an entry is collected when the group's keys are looked up again. */
  readonly forGroups: WeakMap<ModelPolicy, string>;
}

/** Renders the text once per state of the backends, not once per request. */
export function createModelListing(router: Pick<Router, 'list'>): ModelListing {
  let rendered: Rendered | undefined;

  function current(): Rendered {
    const backends = router.list();
    if (rendered !== undefined && areSame(rendered.backends, backends)) return rendered;
    const list = modelList(backends);
    rendered = { backends, list, forAll: JSON.stringify(list), forGroups: new WeakMap() };
    return rendered;
  }

  return (policy) => {
    const { list, forAll, forGroups } = current();
    if (policy === null) return forAll;
    const known = forGroups.get(policy);
    if (known !== undefined) return known;
    const data = list.data.filter(({ id }) => isModelAllowed(policy, { requested: id }));
    const text = JSON.stringify({ ...list, data });
    forGroups.set(policy, text);
    return text;
  };
}

/** The models of the healthy backends and the quick-start ones; what several serve is listed once, under the first. */
function modelList(backends: readonly Listed[]): ModelList {
  const owners = routableModels(backends);
  for (const id of QUICK_START_MODELS) if (!owners.has(id)) owners.set(id, QUICK_START_OWNER);
  const data = [...owners].map(([id, owned_by]) => ({ id, object: 'model' as const, owned_by }));
  return { object: 'list', data };
}

function areSame(before: readonly Listed[], now: readonly Listed[]): boolean {
  return (
    before.length === now.length &&
    now.every((entry, index) => {
      const other = before[index];
      return (
        other?.backend === entry.backend &&
        other.state === entry.state &&
        other.models === entry.models
      );
    })
  );
}
