import type { VideoShape } from '@model-gateway/billing';
import type { VideoResult } from '@model-gateway/contracts';
import type { UpstreamVideo } from '@model-gateway/router';
import type { VideoImage, VideoOrder } from './video-job.ts';

// What `extra` may not touch, not even where it is absent: prices go by some of it.
const PROTECTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'negative_prompt',
  'images',
  'duration_seconds',
  'duration',
  'width',
  'height',
  'provider',
  'extra',
]);

const FORMAT = /\.([a-z0-9]{2,5})$/i;

/** The body that an upstream is sent: what was asked for, and `extra` laid under it. */
export function upstreamVideo(
  order: VideoOrder,
  images: readonly VideoImage[],
  model: string,
): UpstreamVideo {
  const { provider: _provider, extra = {}, ...requested } = order;
  const additions = Object.entries(extra).filter(([name]) => !PROTECTED_FIELDS.has(name));
  const { duration_seconds } = requested;
  return {
    ...Object.fromEntries(additions),
    ...requested,
    // The same in the words of the MiniMax convention.
    ...(duration_seconds === undefined ? {} : { duration: duration_seconds }),
    ...(images.length === 0 ? {} : { images: images.map(encodeImage) }),
    model,
  };
}

const encodeImage = ({ mimeType, data }: VideoImage) => ({
  data_base64: Buffer.from(data).toString('base64'),
  mime_type: mimeType,
});

/** What a video is priced by. */
export function videoShapeOf({ duration_seconds, width, height, extra }: VideoOrder): VideoShape {
  const frames = extra?.['frames'];
  return {
    durationSeconds: duration_seconds,
    width,
    height,
    frames: typeof frames === 'number' ? frames : undefined,
  };
}

/** What a finished upstream task tells about its video. */
export interface FinishedVideo {
  readonly url: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** What the owner of a finished job is told about the video. */
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
