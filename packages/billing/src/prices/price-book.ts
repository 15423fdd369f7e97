import { createStoreReader, type Channels, type Log, type Part } from '@model-gateway/kernel';
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

/** Clients choose the names of models: the remembered prices of one backend are dropped when there are this many. */
const FOUND_MAX = 5_000;

/** By model; undefined where there is no price. */
type FoundPrices = Map<string, FoundPrice | undefined>;

export function createPriceBook(dependencies: PriceBookDependencies): PriceBook {
  const { store, channels, onStoreChange, log, reloadEveryMs } = dependencies;
  let prices = createPriceIndex([]);
  /** The prices that were looked up since the last read: on each backend, and on any. */
  let foundOn = new WeakMap<PricedBackend, FoundPrices>();
  let foundOnAny: FoundPrices = new Map();
  let revision = 0;
  let stopListening = (): void => undefined;
  const reader = createStoreReader({
    channels,
    channel: PRICES_CHANNEL,
    everyMs: reloadEveryMs,
    read: () => store.list(),
    onRead(listed) {
      prices = createPriceIndex(listed);
      foundOn = new WeakMap();
      foundOnAny = new Map();
      revision += 1;
    },
    onFailure: (error) =>
      log.warn({ error }, 'reading the prices failed; the known ones stay valid'),
  });

  function find(model: string, backend?: PricedBackend): FoundPrice | undefined {
    const found = backend === undefined ? foundOnAny : foundOf(backend);
    const known = found.get(model);
    if (known !== undefined || found.has(model)) return known;
    if (found.size >= FOUND_MAX) found.clear();
    const price = prices.find(model, backend);
    found.set(model, price);
    return price;
  }

  /** By the object, because a name may be registered again with another kind. */
  function foundOf(backend: PricedBackend): FoundPrices {
    const known = foundOn.get(backend);
    if (known !== undefined) return known;
    const found: FoundPrices = new Map();
    foundOn.set(backend, found);
    return found;
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
