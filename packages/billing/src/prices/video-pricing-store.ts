import type { VideoPrice } from './video-price.ts';

/** The video price of one model. */
export interface VideoPricing extends VideoPrice {
  readonly model: string;
  /** Shown; prices are taken as USD. */
  readonly currency: string;
  /** Jobs are refused for a model whose price is not enabled. */
  readonly enabled: boolean;
}

/** Stores video prices, one for each model. */
export interface VideoPricingStore {
  /** By model. */
  list(): Promise<readonly VideoPricing[]>;
  find(model: string): Promise<VideoPricing | undefined>;
  /** Replaces an earlier price of the model. */
  save(pricing: VideoPricing): Promise<void>;
}
