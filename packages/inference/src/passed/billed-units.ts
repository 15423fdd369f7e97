import type { BilledUsage } from '@model-gateway/billing';
import type { PassedFields, PassedOperation } from './operations.ts';

/** What an answer has that is not priced by its tokens. */
export type BilledUnits = Pick<BilledUsage, 'images' | 'audioSeconds' | 'cachedTokens'>;

/** What an answer says of them. */
export interface ReportedUnits {
  readonly images?: number | undefined;
  readonly audioSeconds?: number | undefined;
  readonly cachedTokens?: number | undefined;
}

/** Speech has about 150 words, which are 200 tokens, a minute. */
const SECONDS_PER_TOKEN = 60 / 200;
/** Audio files usually have 128 kbit a second. */
const FILE_BYTES_PER_SECOND = 16_000;
const IMAGES_MAX = 1_000;

/** About how long an audio file is, before an upstream has told it. */
export const secondsOfFile = (bytes: number): number => bytes / FILE_BYTES_PER_SECOND;

/**
 * The images and the audio to bill: what the answer has, or an estimate. An audio file is as long as its text takes to be
 * spoken, if the upstream reports no length.
 */
export function billedUnits(
  { capability }: PassedOperation,
  fields: PassedFields,
  reported: ReportedUnits,
  tokens: { readonly prompt_tokens: number; readonly completion_tokens: number },
): BilledUnits {
  const { cachedTokens } = reported;
  switch (capability) {
    case 'images':
      return { images: reported.images ?? requestedImages(fields), cachedTokens };
    case 'speech':
      return { audioSeconds: reported.audioSeconds ?? tokens.prompt_tokens * SECONDS_PER_TOKEN };
    case 'transcription':
      return {
        audioSeconds: reported.audioSeconds ?? tokens.completion_tokens * SECONDS_PER_TOKEN,
      };
    default:
      return { cachedTokens };
  }
}

/** How many images a request asks for. */
function requestedImages({ n }: PassedFields): number {
  const count = Number(n ?? 1);
  return Number.isSafeInteger(count) && count > 0 ? Math.min(count, IMAGES_MAX) : 1;
}
