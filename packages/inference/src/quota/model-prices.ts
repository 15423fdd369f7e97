import { highestCostAt, type FoundPrice, type PriceBook } from '@model-gateway/billing';
import type { Router } from '@model-gateway/router';
import type { ExpectedUsage, RequestedAdmission } from './reservation.ts';

/** A model as a request names it, and the target of its alias. */
export type AdmissionModel = Pick<RequestedAdmission, 'model' | 'requested'>;

/** What requests may cost, before it is known which backend serves them. */
export interface ModelPrices {
  /** What a request reserves: the most that it can cost on any backend and with any of its models that may serve it. */
  expect(
    request: Pick<RequestedAdmission, 'model' | 'requested' | 'fallbacks'>,
    usage: ExpectedUsage,
  ): ExpectedPrice;
  /** Whether the model has a price on each backend that may serve it: points pay for nothing else. */
  isPriced(model: AdmissionModel): boolean;
}

interface ExpectedPrice {
  readonly costUsd: number;
  readonly isPriced: boolean;
}

interface ModelPricesDependencies {
  readonly prices: Pick<PriceBook, 'priceOf'>;
  readonly router: Pick<Router, 'targetsOf'>;
}

export function createModelPrices({ prices, router }: ModelPricesDependencies): ModelPrices {
  /** Undefined for a target without a price. */
  function pricesOf(requested: string, resolved: string): readonly (FoundPrice | undefined)[] {
    const targets = router.targetsOf(requested, resolved);
    return targets.length === 0
      ? [prices.priceOf(resolved)]
      : targets.map(({ model, backend }) => prices.priceOf(model, backend));
  }

  const areAllKnown = (found: readonly (FoundPrice | undefined)[]): boolean =>
    found.every((price) => price !== undefined);

  return {
    expect({ model, requested, fallbacks }, usage) {
      if (model === null) return { costUsd: usage.costUsd ?? 0, isPriced: true };
      const found = pricesOf(requested ?? model, model);
      let costUsd = highestOf(found, usage);
      for (const other of fallbacks ?? []) {
        const others = pricesOf(other.model, other.resolved);
        costUsd = Math.max(costUsd, highestOf(others, usage));
      }
      return { costUsd: usage.costUsd ?? costUsd, isPriced: areAllKnown(found) };
    },
    isPriced: ({ model, requested }) =>
      model === null || areAllKnown(pricesOf(requested ?? model, model)),
  };
}

function highestOf(
  found: readonly (FoundPrice | undefined)[],
  { promptTokens, completionTokens, images, audioSeconds }: ExpectedUsage,
): number {
  // No spread: V8 would make a new hidden class for every request.
  const billed = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    images,
    audioSeconds,
  };
  let highest = 0;
  for (const price of found) {
    if (price !== undefined) highest = Math.max(highest, highestCostAt(price, billed));
  }
  return highest;
}
