import type { TokenPrice } from './prices.ts';

/** Stores the prices that override the built-in ones. */
export interface PriceStore {
  /** By pattern. */
  list(): Promise<readonly TokenPrice[]>;
  /** Replaces an earlier price of this pattern. */
  set(price: TokenPrice): Promise<void>;
  /** Returns whether there was one. */
  remove(pattern: string): Promise<boolean>;
}

/** The channel for changed prices; the message is the pattern. */
export const PRICES_CHANNEL = 'prices';
