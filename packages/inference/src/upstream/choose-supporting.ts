import { ServiceError } from '@model-gateway/contracts';
import type { Backend, ChoiceOptions, ChosenBackend, Router, Tried } from '@model-gateway/router';

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
): Promise<ChosenBackend> {
  let refusal: ServiceError | undefined;
  const tried: Tried[] = [];
  for (;;) {
    const route = await router.choose(model, { ...options, exclude: tried }).catch((error) => {
      throw error instanceof ServiceError ? (refusal ?? error) : error;
    });
    if (isAble(route.backend)) return route;
    void route.settle('neutral');
    refusal ??= unsupported(route.backend);
    tried.push({ backend: route.backend.name, model: route.model });
  }
}
