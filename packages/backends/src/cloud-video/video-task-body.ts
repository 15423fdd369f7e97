import { submittedResolution } from '@model-gateway/contracts';
import { UpstreamFailure, type UpstreamVideo } from '@model-gateway/router';
import { z } from 'zod';

const imagesSchema = z.array(z.object({ data_base64: z.string(), mime_type: z.string() }));
const pixels = z.int().optional();

const IMAGES_MAX = 2;

/** The body of a submission, in the words of the video API: frames as data URLs, the size as a resolution. */
export function videoTaskBody(video: UpstreamVideo): UpstreamVideo {
  const { images, width, height, ...body } = video;
  const [first, last, ...further] = imagesSchema.parse(images ?? []).map(dataUrl);
  if (further.length > 0) {
    throw new UpstreamFailure(
      `this video API takes at most ${IMAGES_MAX} images: the first and the last frame`,
      { isBackendAtFault: false },
    );
  }
  const resolution = resolutionOf(pixels.parse(width), pixels.parse(height));
  return {
    ...body,
    ...(first === undefined ? {} : { first_frame_image: first }),
    ...(last === undefined ? {} : { last_frame_image: last }),
    ...(resolution === undefined ? {} : { resolution }),
  };
}

const dataUrl = ({ data_base64, mime_type }: z.output<typeof imagesSchema>[number]): string =>
  `data:${mime_type};base64,${data_base64}`;

/** Without a size the API chooses. */
const resolutionOf = (width: number | undefined, height: number | undefined): string | undefined =>
  width === undefined && height === undefined
    ? undefined
    : submittedResolution({ width, height }).name;
