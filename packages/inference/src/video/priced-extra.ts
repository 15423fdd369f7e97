import { paysForFrames, type VideoPrice, type VideoShape } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import type { VideoOrder } from './video-job.ts';

// Names of upstreams for what the price depends on: how many videos, how long and how large.
const PRICED_FIELD =
  /^(?:duration|(?:n|num_?videos|num_?frames|frames|seconds|video_?length|resolution|size|width|height|fps)$)/i;

/** The one such field that counts in a price by the frame. */
const COUNTED_FIELD = 'frames';

const LEVELS_MAX = 8;
const PATH_CHARS_MAX = 64;

/** Whether a field of `extra` is, or has within it, one that the price depends on and that is not counted. */
export const isPricedField = (name: string, value: unknown): boolean =>
  findPriced({ [name]: value }) !== undefined;

/** Refuses an `extra` with a field that the price depends on: the upstream would charge for something else. */
export function assertPriceableExtra(extra: VideoOrder['extra'] = {}): void {
  const priced = findPriced(extra);
  if (priced === undefined) return;
  if (priced === 'too deep')
    throw new ServiceError('bad_extra', `'extra' has more than ${LEVELS_MAX} levels`);
  throw new ServiceError(
    'bad_extra',
    `'extra.${priced.path.slice(0, PATH_CHARS_MAX)}' is not allowed, because the price depends on it; use 'duration_seconds', 'width', 'height' or 'extra.frames'`,
  );
}

/** Refuses more frames than the duration has, for a price by the second. */
export function assertPaidFrames(price: VideoPrice | undefined, video: VideoShape): void {
  if (paysForFrames(price, video)) return;
  throw new ServiceError(
    'bad_extra',
    `'extra.frames' must not exceed the frames of 'duration_seconds'; ask for a longer 'duration_seconds'`,
  );
}

type Priced = { readonly path: string } | 'too deep';

function findPriced(value: object, path = '', level = 1): Priced | undefined {
  if (level > LEVELS_MAX) return 'too deep';
  const fields: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [name, inner] of fields) {
    const isCounted = typeof name === 'number' || (level === 1 && name === COUNTED_FIELD);
    if (!isCounted && PRICED_FIELD.test(name)) return { path: path + name };
    if (typeof inner !== 'object' || inner === null) continue;
    const found = findPriced(inner, `${path}${name}.`, level + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
