import { UpstreamFailure, type UpstreamVideo } from '@model-gateway/router';
import { z } from 'zod';

const imagesSchema = z.array(z.object({ data_base64: z.string(), mime_type: z.string() }));
const pixels = z.int().optional();

/** The names of the API for the length of the short side. */
const RESOLUTIONS: readonly { readonly name: string; readonly shortSide: number }[] = [
  { name: '512P', shortSide: 512 },
  { name: '768P', shortSide: 768 },
  { name: '1080P', shortSide: 1080 },
];
const WIDTH_DEFAULT = 1280;
const HEIGHT_DEFAULT = 720;
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

/** The nearest by the short side; of two equally near ones the smaller. Without a size the API chooses. */
function resolutionOf(width: number | undefined, height: number | undefined): string | undefined {
  if (width === undefined && height === undefined) return undefined;
  const shortSide = Math.min(width ?? WIDTH_DEFAULT, height ?? HEIGHT_DEFAULT);
  const distance = (resolution: { readonly shortSide: number }): number =>
    Math.abs(resolution.shortSide - shortSide);
  return RESOLUTIONS.toSorted((left, right) => distance(left) - distance(right))[0]?.name;
}
