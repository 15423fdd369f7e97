import type { Channels, Log, Part, Subscription } from '@model-gateway/kernel';
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
  /** For missed announcements, and for changes made in the database by hand. */
  readonly reloadEveryMs?: number;
}

const RELOAD_EVERY_MS = 30_000;
const FOUND_MAX = 5_000;
const UNPRICED = Symbol('unpriced');

export function createPriceBook(dependencies: PriceBookDependencies): PriceBook {
  const { store, channels, onStoreChange, log } = dependencies;
  const { reloadEveryMs = RELOAD_EVERY_MS } = dependencies;
  let prices = createPriceIndex([]);
  /** The prices that were looked up since the last read. */
  const found = new LRUCache<string, FoundPrice | typeof UNPRICED>({ max: FOUND_MAX });
  let revision = 0;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopListening = (): void => undefined;

  async function read(): Promise<void> {
    try {
      prices = createPriceIndex(await store.list());
      found.clear();
      revision += 1;
    } catch (error) {
      log.warn({ error }, 'reading the prices failed; the known ones stay valid');
    }
  }

  function readNow(): Promise<void> {
    next = undefined;
    reading = read().finally(() => (reading = undefined));
    return reading;
  }

  // A read in progress may miss a change; then it is repeated.
  function reload(): Promise<void> {
    if (reading === undefined) return readNow();
    next ??= reading.then(readNow);
    return next;
  }

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
    reload,
    async start() {
      subscription = await channels.subscribe(PRICES_CHANNEL, () => void reload());
      stopListening = onStoreChange(() => void reload());
      timer = setInterval(() => void reload(), reloadEveryMs).unref();
      await reload();
    },
    async stop() {
      clearInterval(timer);
      stopListening();
      await subscription?.close();
      await (next ?? reading);
    },
  };
}

/** A name may be registered again with another kind. With its length, no other name and model give the same key. */
const keyOf = (model: string, backend: PricedBackend | undefined): string =>
  backend === undefined
    ? `:${model}`
    : `${backend.kind}:${backend.name.length}:${backend.name}${model}`;
