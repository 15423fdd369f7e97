import type { PriceRecord, PriceSource } from '@model-gateway/contracts';
import type { Rates } from './prices.ts';

/** Rates, and where they come from. */
export interface SourcedRates extends Rates {
  readonly pattern: string | null;
  readonly backend: string | null;
  readonly source: PriceSource;
}

/** A price as it is shown, and as it is kept with requests. */
export function recordOf(price: SourcedRates): PriceRecord {
  return {
    ...(price.pattern !== null && { pattern: price.pattern }),
    ...(price.backend !== null && { backend: price.backend }),
    input_per_million: price.inputPerMillion,
    output_per_million: price.outputPerMillion,
    ...(price.cachedInputPerMillion !== null && {
      cached_input_per_million: price.cachedInputPerMillion,
    }),
    ...(price.cacheWritePerMillion !== null && {
      cache_write_per_million: price.cacheWritePerMillion,
    }),
    ...(price.audioInputPerMillion !== null && {
      audio_input_per_million: price.audioInputPerMillion,
    }),
    ...(price.audioOutputPerMillion !== null && {
      audio_output_per_million: price.audioOutputPerMillion,
    }),
    ...(price.cachedAudioInputPerMillion !== null && {
      cached_audio_input_per_million: price.cachedAudioInputPerMillion,
    }),
    ...(price.imageOutputPerMillion !== null && {
      image_output_per_million: price.imageOutputPerMillion,
    }),
    ...(price.perImage !== null && { per_image: price.perImage }),
    ...(price.perMinuteAudio !== null && { per_minute_audio: price.perMinuteAudio }),
    ...(price.perRequest !== null && { per_request: price.perRequest }),
    source: price.source,
  };
}
