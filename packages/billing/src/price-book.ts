import type { TokenUsage } from '@model-gateway/contracts';
import type { Channels, Log, Part, Subscription } from '@model-gateway/kernel';
import { PRICES_CHANNEL, type PriceStore } from './price-store.ts';
import { costAt, priceOf, pricesWith, type TokenPrice } from './prices.ts';

/** The current prices: in memory, and updated from the store. */
export interface PriceBook extends Part {
  /** Undefined means unpriced, never free. */
  priceOf(model: string): TokenPrice | undefined;
  /** In USD; null when the model has no price. */
  costOf(
    model: string,
    usage: Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'>,
  ): number | null;
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
const FOUND_MAX = 2_000;

export function createPriceBook(dependencies: PriceBookDependencies): PriceBook {
  const { store, channels, onStoreChange, log } = dependencies;
  const { reloadEveryMs = RELOAD_EVERY_MS } = dependencies;
  let prices: readonly TokenPrice[] = pricesWith([]);
  /** A cache of the prices by model, since the last read. */
  const found = new Map<string, TokenPrice | undefined>();
  let revision = 0;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopListening = (): void => undefined;

  async function read(): Promise<void> {
    try {
      prices = pricesWith(await store.list());
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

  function find(model: string): TokenPrice | undefined {
    const known = found.get(model);
    if (known !== undefined || found.has(model)) return known;
    if (found.size >= FOUND_MAX) found.clear();
    const price = priceOf(model, prices);
    found.set(model, price);
    return price;
  }

  return {
    name: 'prices',
    priceOf: find,
    costOf: (model, usage) => costAt(find(model), usage),
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
