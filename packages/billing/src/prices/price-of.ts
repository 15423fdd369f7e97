import type { RpcParams } from '@model-gateway/contracts';
import type { Price } from './prices.ts';

/** The price that a call or the configuration file sets; undefined for one that is to be removed. */
export function priceOf(params: RpcParams<'billing.pricing.set'>): Price | undefined {
  const { pattern, backend, input_per_million, output_per_million } = params;
  if (input_per_million === null || output_per_million === null) return undefined;
  return {
    pattern,
    backend: backend ?? null,
    inputPerMillion: input_per_million,
    outputPerMillion: output_per_million,
    cachedInputPerMillion: params.cached_input_per_million ?? null,
    cacheWritePerMillion: params.cache_write_per_million ?? null,
    audioInputPerMillion: params.audio_input_per_million ?? null,
    audioOutputPerMillion: params.audio_output_per_million ?? null,
    cachedAudioInputPerMillion: params.cached_audio_input_per_million ?? null,
    imageOutputPerMillion: params.image_output_per_million ?? null,
    perImage: params.per_image ?? null,
    perMinuteAudio: params.per_minute_audio ?? null,
    perRequest: params.per_request ?? null,
  };
}
