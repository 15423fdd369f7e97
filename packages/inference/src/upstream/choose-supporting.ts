import { ServiceError } from '@model-gateway/contracts';
import type { Backend, ChoiceOptions, Lease, Router, TargetName } from '@model-gateway/router';

interface SupportingQuery {
  readonly model: string;
  readonly options: ChoiceOptions;
  /** Whether the backend can do what it declared. */
  readonly isAble: (backend: Backend) => boolean;
  /** The error when no backend can. */
  readonly unsupported: (backend: Backend) => ServiceError;
}

/** Chooses a backend that can do what it declared; one that cannot is passed over. */
export async function chooseSupporting(
  router: Pick<Router, 'choose'>,
  { model, options, isAble, unsupported }: SupportingQuery,
): Promise<Lease> {
  let refusal: ServiceError | undefined;
  const tried: TargetName[] = [];
  for (;;) {
    const lease = await router.choose(model, { ...options, exclude: tried }).catch((error) => {
      throw error instanceof ServiceError ? (refusal ?? error) : error;
    });
    if (isAble(lease.backend)) return lease;
    void lease.settle('neutral');
    refusal ??= unsupported(lease.backend);
    tried.push({ backend: lease.backend.name, model: lease.model });
  }
}
