import type { VideoShape } from '@model-gateway/billing';
import type { VideoResult } from '@model-gateway/contracts';
import type { UpstreamVideo } from '@model-gateway/router';
import { isPricedField } from './priced-extra.ts';
import type { VideoImage, VideoOrder } from './video-job.ts';

// Fields that `extra` does not set, even if they are absent.
const PROTECTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'negative_prompt',
  'images',
  'provider',
  'extra',
]);

const FORMAT = /\.([a-z0-9]{2,5})$/i;

/** The body for an upstream: the requested fields, with `extra` as defaults. */
export function upstreamVideo(
  order: VideoOrder,
  images: readonly VideoImage[],
  model: string,
): UpstreamVideo {
  const { provider: _provider, extra = {}, ...requested } = order;
  const additions = Object.entries(extra).filter(
    ([name, value]) => !PROTECTED_FIELDS.has(name) && !isPricedField(name, value),
  );
  const { duration_seconds } = requested;
  return {
    ...Object.fromEntries(additions),
    ...requested,
    // The same under the names of the MiniMax convention.
    ...(duration_seconds === undefined ? {} : { duration: duration_seconds }),
    ...(images.length === 0 ? {} : { images: images.map(encodeImage) }),
    model,
  };
}

const encodeImage = ({ mimeType, data }: VideoImage) => ({
  data_base64: Buffer.from(data).toString('base64'),
  mime_type: mimeType,
});

/** The values that determine the price of a video. */
export function videoShapeOf({ duration_seconds, width, height, extra }: VideoOrder): VideoShape {
  const frames = extra?.['frames'];
  return {
    durationSeconds: duration_seconds,
    width,
    height,
    frames: typeof frames === 'number' ? frames : undefined,
  };
}

/** The video of a finished upstream task. */
export interface FinishedVideo {
  readonly url: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** The result of a finished job for its owner. */
export function videoResultOf(
  { url, width, height }: FinishedVideo,
  { duration_seconds }: VideoOrder,
): VideoResult {
  const format = URL.canParse(url) ? FORMAT.exec(new URL(url).pathname)?.[1] : undefined;
  return {
    url,
    ...(format === undefined ? {} : { format: format.toLowerCase() }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(duration_seconds === undefined ? {} : { duration_seconds }),
  };
}
