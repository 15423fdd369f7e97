import { createStoreReader, type Channels, type Log, type Part } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import { createPriceIndex, type PricedBackend } from './price-index.ts';
import { PRICES_CHANNEL, type PriceStore } from './price-store.ts';
import type { FoundPrice } from './prices.ts';

/** The current prices: in memory, and updated from the store. */
export interface PriceBook extends Part {
  /** The price of a model, on any backend or on this one. Undefined means unpriced, never free. */
  priceOf(model: string, backend?: PricedBackend): FoundPrice | undefined;
  /** A number that grows whenever the prices may have changed. */
  revision(): number;
  /** Reads the store again. If that fails, the prices stay as they are; never rejects. */
  reload(): Promise<void>;
}

interface PriceBookDependencies {
  readonly store: Pick<PriceStore, 'list'>;
  readonly channels: Pick<Channels, 'subscribe'>;
  /** Calls back when announcements may have been missed; the returned function unsubscribes. */
  readonly onStoreChange: (listener: () => void) => () => void;
  readonly log: Log;
  readonly reloadEveryMs?: number;
}

const FOUND_MAX = 5_000;
const UNPRICED = Symbol('unpriced');

export function createPriceBook(dependencies: PriceBookDependencies): PriceBook {
  const { store, channels, onStoreChange, log, reloadEveryMs } = dependencies;
  let prices = createPriceIndex([]);
  /** The prices that were looked up since the last read. */
  const found = new LRUCache<string, FoundPrice | typeof UNPRICED>({ max: FOUND_MAX });
  let revision = 0;
  let stopListening = (): void => undefined;
  const reader = createStoreReader({
    channels,
    channel: PRICES_CHANNEL,
    everyMs: reloadEveryMs,
    read: () => store.list(),
    onRead(listed) {
      prices = createPriceIndex(listed);
      found.clear();
      revision += 1;
    },
    onFailure: (error) =>
      log.warn({ error }, 'reading the prices failed; the known ones stay valid'),
  });

  function find(model: string, backend?: PricedBackend): FoundPrice | undefined {
    const key = keyOf(model, backend);
    const known = found.get(key);
    if (known !== undefined) return known === UNPRICED ? undefined : known;
    const price = prices.find(model, backend);
    found.set(key, price ?? UNPRICED);
    return price;
  }

  return {
    name: 'prices',
    priceOf: find,
    revision: () => revision,
    reload: () => reader.reload(),
    async start() {
      stopListening = onStoreChange(() => void reader.reload());
      await reader.start();
    },
    async stop() {
      stopListening();
      await reader.stop();
    },
  };
}

/** A name may be registered again with another kind. With its length, no other name and model give the same key. */
const keyOf = (model: string, backend: PricedBackend | undefined): string =>
  backend === undefined
    ? `:${model}`
    : `${backend.kind}:${backend.name.length}:${backend.name}${model}`;
