import { recordOf, type SourcedRates } from './price-record.ts';
import {
  pricesWith,
  tokenRates,
  type FoundPrice,
  type ListedPrice,
  type StoredPrice,
} from './prices.ts';

/** What a price depends on besides the model. */
export interface PricedBackend {
  readonly name: string;
  /** Of its kind. */
  readonly facts?: { readonly isFree?: boolean } | undefined;
}

/** The prices, ordered for lookups. */
export interface PriceIndex {
  /**
   * The price of a model: the backend's own one first; nothing where the backend runs models on own machines; then that of
   * the id itself before those of patterns, of which the longest counts. Undefined means unpriced, never free.
   */
  find(model: string, backend?: PricedBackend): FoundPrice | undefined;
}

const LOCAL = foundPrice({ ...tokenRates(0, 0), pattern: null, backend: null, source: 'local' });

export function createPriceIndex(stored: readonly StoredPrice[]): PriceIndex {
  const ofBackends = new Map<string, ListedPrice[]>();
  const catalogue = new Map<string, ListedPrice>();
  const general: ListedPrice[] = [];
  for (const price of pricesWith(stored)) {
    if (price.source === 'catalogue') catalogue.set(price.pattern, price);
    else if (price.backend === null) general.push(price);
    else ofBackends.set(price.backend, [...(ofBackends.get(price.backend) ?? []), price]);
  }

  function generalPrice(id: string): ListedPrice | undefined {
    const longest = longestMatch(id, general);
    // What an operator set counts before what was imported.
    if (longest?.pattern === id && longest.source !== 'built-in') return longest;
    return catalogue.get(id) ?? longest;
  }

  return {
    find(model, backend) {
      const id = model.toLowerCase();
      const own = backend && longestMatch(id, ofBackends.get(backend.name) ?? []);
      if (own !== undefined) return foundPrice(own);
      if (backend?.facts?.isFree === true) return LOCAL;
      const price = generalPrice(id);
      return price && foundPrice(price);
    },
  };
}

function longestMatch(id: string, prices: readonly ListedPrice[]): ListedPrice | undefined {
  let best: ListedPrice | undefined;
  for (const price of prices) {
    if (price.pattern.length > (best?.pattern.length ?? 0) && id.includes(price.pattern)) {
      best = price;
    }
  }
  return best;
}

function foundPrice(price: SourcedRates): FoundPrice {
  const { pattern: _pattern, backend: _backend, ...found } = price;
  return { ...found, record: recordOf(price) };
}
