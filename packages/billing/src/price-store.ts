import type { TokenPrice } from './prices.ts';

/** Where the prices are kept that are laid over the built-in ones. */
export interface PriceStore {
  /** By pattern. */
  list(): Promise<readonly TokenPrice[]>;
  /** In place of what was laid over this pattern before. */
  set(price: TokenPrice): Promise<void>;
  /** Answers whether there was one. */
  remove(pattern: string): Promise<boolean>;
}

/** Where it is announced that prices have changed; the message is the pattern. */
export const PRICES_CHANNEL = 'prices';
