import {
  modelRefusal,
  type ApiKey,
  type KeyPolicies,
  type KeyStore,
  type ModelPolicy,
} from '@model-gateway/accounts';
import { decideBudget } from '@model-gateway/billing';
import { ServiceError, type RouteExplanation } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import {
  DEFAULT_RETRIES,
  type ChoiceOptions,
  type ExplainedTarget,
  type Router,
} from '@model-gateway/router';

/** What is asked about. */
interface ExplainedRequest extends Pick<ChoiceOptions, 'capability' | 'provider'> {
  readonly model: string;
  /** The key whose rules and budget count; without one, none do. */
  readonly keyId?: string | undefined;
}

/** Says where a request would go, for admins. */
export type ExplainRoute = (request: ExplainedRequest) => Promise<RouteExplanation>;

interface ExplainRouteDependencies {
  readonly router: Pick<Router, 'explain' | 'aliases' | 'routes'>;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly policies: KeyPolicies;
  readonly clock: Clock;
}

/** Why a key gets none of the targets. */
interface RequestRefusal {
  readonly reason: 'not_allowed' | 'too_dear';
  readonly detail: string;
}

const NOTHING_COUNTED = { reservedUsd: 0, unsettledUsd: 0 };

export function createExplainRoute(dependencies: ExplainRouteDependencies): ExplainRoute {
  const { router, keys, policies, clock } = dependencies;

  async function find(keyId: string): Promise<ApiKey> {
    const key = await keys.find(keyId, new Date(clock.now()));
    if (key === undefined) throw new ServiceError('not_found', `there is no key ${keyId}`);
    return key;
  }

  /** Why the key gets no target that its rules allow. */
  function refusalOf(key: ApiKey): RequestRefusal | undefined {
    if (!key.active) return { reason: 'not_allowed', detail: 'the key is not active' };
    const { budgetUsd } = key.settings;
    const decision = decideBudget(budgetUsd, { costUsd: key.spentUsd }, NOTHING_COUNTED);
    return decision === 'admit'
      ? undefined
      : { reason: 'too_dear', detail: 'the budget of the key is used up' };
  }

  return async ({ model, keyId, capability, provider }) => {
    const resolved = router.aliases.resolve(model);
    const key = keyId === undefined ? undefined : await find(keyId);
    const policy = key === undefined ? null : await policies.policyOf(key);
    const refusal = key && refusalOf(key);
    const targets = await router.explain(model, { resolved, capability, provider });
    const rule = router.routes.find(model, resolved);
    return {
      model,
      resolved,
      key_id: keyId ?? null,
      has_route: rule !== undefined,
      attempts: (rule ?? DEFAULT_RETRIES).attempts,
      targets: targets.map((target) =>
        targetRecord(
          target,
          targetRefusal(target, { requested: model, resolved, policy }) ?? refusal,
        ),
      ),
    };
  };
}

function rulesRefusal(
  policy: ModelPolicy | null,
  names: Parameters<typeof modelRefusal>[1],
): RequestRefusal | undefined {
  const refusing = policy === null ? undefined : modelRefusal(policy, names);
  if (refusing === undefined) return undefined;
  const whose = refusing === 'group' ? 'the group of the key' : 'the key';
  return { reason: 'not_allowed', detail: `${whose} does not allow the model` };
}

/** The rules hold for what a target serves. */
const targetRefusal = (
  { model, routed }: ExplainedTarget,
  {
    requested,
    resolved,
    policy,
  }: { readonly requested: string; readonly resolved: string; readonly policy: ModelPolicy | null },
): RequestRefusal | undefined =>
  rulesRefusal(policy, { requested, aliasTarget: resolved, served: model ?? routed?.model });

/** What no request gets stays the reason; the rules of the key concern the others. */
function targetRecord(
  { backend, kind, model, routed, ...found }: ExplainedTarget,
  refusal: RequestRefusal | undefined,
): RouteExplanation['targets'][number] {
  const isRefused = refusal !== undefined && found.position !== undefined;
  const { position, share, reason, detail } = isRefused
    ? { ...refusal, position: undefined, share: undefined }
    : found;
  return {
    position: position ?? null,
    backend: backend ?? null,
    type: kind ?? null,
    model: model ?? routed?.model ?? null,
    priority: routed?.priority ?? null,
    weight: routed?.weight ?? null,
    share: share ?? null,
    reason: reason ?? null,
    detail: detail ?? null,
  };
}
