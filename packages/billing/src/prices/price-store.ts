import type { Price, StoredPrice } from './prices.ts';

/** Stores the prices that an operator set or imported. */
export interface PriceStore {
  /** By pattern, those for every backend first. */
  list(): Promise<readonly StoredPrice[]>;
  /** Replaces an earlier price of this pattern and backend. */
  set(price: Price): Promise<void>;
  /** Returns whether there was one. */
  remove(pattern: string, backend: string | null): Promise<boolean>;
  /** Stores the prices of a catalogue, which are for every backend; returns how many earlier ones are gone. */
  importAll(prices: readonly Price[], mode: ImportMode): Promise<number>;
}

/** Whether the prices of earlier imports that a catalogue does not have stay. */
export type ImportMode = 'merge' | 'replace';

/** The channel for changed prices; the message is the pattern. */
export const PRICES_CHANNEL = 'prices';
