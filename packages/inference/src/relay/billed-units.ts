import type { BilledUsage } from '@model-gateway/billing';
import type { MediaTokens } from '@model-gateway/contracts';
import type { KindFacts } from '@model-gateway/router';
import { boundedCount } from '../usage/bounded-usage.ts';
import { secondsOfTokens } from './audio-length.ts';
import type { RelayedFields, RelayedOperation } from './operations.ts';

/** What an answer has that is not priced by its tokens. */
export type BilledUnits = Pick<
  BilledUsage,
  'images' | 'audioSeconds' | 'cachedTokens' | 'cacheWriteTokens' | 'mediaTokens'
>;

/** The same units as the answer reports them. */
export interface ReportedUnits {
  readonly images?: number | undefined;
  readonly audioSeconds?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly mediaTokens?: MediaTokens | undefined;
}

const IMAGES_MAX = 1_000;

/** The units that are known from an upload. */
export const unitsOfUpload = (audioSeconds: number | undefined): ReportedUnits =>
  audioSeconds === undefined ? {} : { audioSeconds };

/**
 * The images and the audio to bill: what the answer has, or an estimate. An audio file is as long as its text takes to be
 * spoken, if the upstream reports no length.
 */
export function billedUnits(
  { capability }: RelayedOperation,
  fields: RelayedFields,
  reported: ReportedUnits,
  tokens: { readonly prompt_tokens: number; readonly completion_tokens: number },
): BilledUnits {
  const { cachedTokens, cacheWriteTokens, mediaTokens } = reported;
  switch (capability) {
    case 'images':
      return {
        images: reported.images ?? requestedImages(fields),
        cachedTokens,
        cacheWriteTokens,
        mediaTokens,
      };
    case 'speech':
      return {
        audioSeconds: reported.audioSeconds ?? secondsOfTokens(tokens.prompt_tokens),
        mediaTokens,
      };
    case 'transcription':
      return {
        audioSeconds: reported.audioSeconds ?? secondsOfTokens(tokens.completion_tokens),
        mediaTokens,
      };
    default:
      return { cachedTokens, cacheWriteTokens, mediaTokens };
  }
}

/**
 * The units to bill; of a GPU node at most the images that were requested, and the audio that the file or the text can be.
 * Its owner chooses what it reports, and others pay for it.
 */
export function boundedUnits(
  facts: KindFacts | undefined,
  units: BilledUnits,
  estimate: () => BilledUnits,
): BilledUnits {
  if (facts?.isBounded !== true) return units;
  const { images, audioSeconds } = units;
  const estimated = estimate();
  return {
    ...units,
    images: images && Math.min(images, estimated.images ?? 0),
    audioSeconds: audioSeconds && boundedCount(audioSeconds, estimated.audioSeconds ?? 0),
  };
}

/** How many images a request asks for. */
function requestedImages({ n }: RelayedFields): number {
  const count = Number(n ?? 1);
  return Number.isSafeInteger(count) && count > 0 ? Math.min(count, IMAGES_MAX) : 1;
}
