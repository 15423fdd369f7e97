/** The size of a video in pixels. A missing side has its default. */
export interface VideoSize {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** What cloud video APIs call the length of the short side. */
interface VideoResolution {
  readonly name: string;
  readonly shortSide: number;
}

const RESOLUTIONS: readonly VideoResolution[] = [
  { name: '512P', shortSide: 512 },
  { name: '768P', shortSide: 768 },
  { name: '1080P', shortSide: 1080 },
];
const WIDTH_DEFAULT = 1280;
const HEIGHT_DEFAULT = 720;

/** The short side of a video. */
export const shortSideOf = ({
  width = WIDTH_DEFAULT,
  height = HEIGHT_DEFAULT,
}: VideoSize): number => Math.min(width, height);

/** The resolution that a cloud video API is asked for: the nearest by the short side; of two equally near ones the smaller. */
export function submittedResolution(size: VideoSize): VideoResolution {
  const shortSide = shortSideOf(size);
  const distance = (resolution: VideoResolution): number =>
    Math.abs(resolution.shortSide - shortSide);
  return RESOLUTIONS.reduce((nearest, next) =>
    distance(next) < distance(nearest) ? next : nearest,
  );
}
