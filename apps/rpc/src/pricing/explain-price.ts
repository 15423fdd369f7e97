import { costAt, type FoundPrice, type PriceIndex } from '@model-gateway/billing';
import { ServiceError, type RpcParams, type RpcResult } from '@model-gateway/contracts';
import type { Router, ListedModel } from '@model-gateway/router';

type Explained = RpcResult<'billing.pricing.explain'>;

/** The price of a model on the backends that may serve it, or on one backend, whether it serves the model or not. */
export function explainPrice(
  { model, backend }: RpcParams<'billing.pricing.explain'>,
  prices: PriceIndex,
  router: Pick<Router, 'aliases' | 'list' | 'targetsOf' | 'unlisted'>,
): Explained {
  const recordOf = (found: FoundPrice | undefined) => found?.record ?? null;
  const resolved = router.aliases.resolve(model);
  const serving = router.targetsOf(model, resolved);
  const targets =
    backend === undefined ? serving : targetsOn(namedBackend(backend, router), resolved, serving);
  const found = targets.map((target) => ({
    target,
    price: prices.find(target.model, target.backend),
  }));
  const price =
    targets.length === 0 ? prices.find(resolved) : highestOf(found.map((one) => one.price));
  return {
    model,
    price: recordOf(price),
    backends: found.map((one) => ({
      backend: one.target.backend.name,
      model: one.target.model,
      price: recordOf(one.price),
    })),
  };
}

function namedBackend(
  name: string,
  router: Pick<Router, 'list' | 'unlisted'>,
): ListedModel['backend'] {
  const found = [...router.list(), ...router.unlisted()].find((one) => one.backend.name === name);
  if (found === undefined) {
    throw new ServiceError('not_found', `backend '${name}' is not registered`);
  }
  return found.backend;
}

function targetsOn(
  backend: ListedModel['backend'],
  model: string,
  serving: readonly ListedModel[],
): readonly ListedModel[] {
  const own = serving.filter((target) => target.backend.name === backend.name);
  return own.length === 0 ? [{ backend, model }] : own;
}

const SAMPLE = { prompt_tokens: 1_000, completion_tokens: 1_000, images: 1, audioSeconds: 60 };

/** By what a usual request costs. */
const highestOf = (prices: readonly (FoundPrice | undefined)[]): FoundPrice | undefined =>
  prices.reduce<FoundPrice | undefined>(
    (highest, price) =>
      highest === undefined ||
      (price !== undefined && costAt(price, SAMPLE) > costAt(highest, SAMPLE))
        ? price
        : highest,
    undefined,
  );
