import type { TokenUsage } from '@model-gateway/contracts';
import type { Channels, Log, Part, Subscription } from '@model-gateway/kernel';
import { PRICES_CHANNEL, type PriceStore } from './price-store.ts';
import { costAt, priceOf, pricesWith, type TokenPrice } from './prices.ts';

/** The prices that this process goes by: in memory, and kept in step with the store. */
export interface PriceBook extends Part {
  /** Undefined means unpriced, never free. */
  priceOf(model: string): TokenPrice | undefined;
  /** In USD; null when the model has no price. */
  costOf(
    model: string,
    usage: Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'>,
  ): number | null;
  /** Reads the store again. What cannot be read now stays as it was; never rejects. */
  reload(): Promise<void>;
}

interface PriceBookDependencies {
  readonly store: Pick<PriceStore, 'list'>;
  readonly channels: Pick<Channels, 'subscribe'>;
  /** Calls back when announcements may have been missed; the answer stops that. */
  readonly onStoreChange: (listener: () => void) => () => void;
  readonly log: Log;
  /** For what was announced and not heard, and for changes made in the database by hand. */
  readonly reloadEveryMs?: number;
}

const RELOAD_EVERY_MS = 30_000;
const FOUND_MAX = 2_000;

export function createPriceBook(dependencies: PriceBookDependencies): PriceBook {
  const { store, channels, onStoreChange, log } = dependencies;
  const { reloadEveryMs = RELOAD_EVERY_MS } = dependencies;
  let prices: readonly TokenPrice[] = pricesWith([]);
  /** What the models cost that were asked for since the prices were read. */
  const found = new Map<string, TokenPrice | undefined>();
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopListening = (): void => undefined;

  async function read(): Promise<void> {
    try {
      prices = pricesWith(await store.list());
      found.clear();
    } catch (error) {
      log.warn({ error }, 'the prices could not be read; the known ones stay');
    }
  }

  function readNow(): Promise<void> {
    next = undefined;
    reading = read().finally(() => (reading = undefined));
    return reading;
  }

  // What is being read may be from before a change; then it is read once more.
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
