import type { VideoPrice } from './video-price.ts';

/** What video costs on one model. */
export interface VideoPricing extends VideoPrice {
  readonly model: string;
  /** Shown; prices are taken as USD. */
  readonly currency: string;
}

/** Where video prices are kept, one for each model. */
export interface VideoPricingStore {
  /** By model. */
  list(): Promise<readonly VideoPricing[]>;
  /** In place of what the model cost before. */
  save(pricing: VideoPricing): Promise<void>;
}
