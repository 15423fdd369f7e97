import type { ScreenshotOutcome } from '../engine.ts';
import { command, READING, runCall, ELEMENT_ALIASES } from './command.ts';
import { DIMENSION_MAX, screenshotParams, type ScreenshotRequest } from './params.ts';

const BYTES_MAX = 4 * 1024 * 1024;
// Base64 encodes this as seven million characters.
const BYTES_HARD_MAX = 5 * 1024 * 1024;
const QUALITY_LOW = 50;
const SMALLER_BY = [1, 2, 4, 8, 16];

export const screenshot = command({
  name: 'screenshot',
  http: { method: 'POST', path: '/screenshot' },
  inBatch: true,
  aliases: ELEMENT_ALIASES,
  soleAliases: { element: 'target' },
  params: screenshotParams,
  tool: {
    name: 'browser_screenshot',
    title: 'Screenshot',
    description: 'Picture of viewport, page or element',
    fields: ['target', 'fullPage', 'format', 'quality', 'maxDimension'],
    listedDefaults: ['fullPage', 'format', 'maxDimension'],
    // The size of an image for a model is always limited.
    overrides: {
      maxDimension: screenshotParams.shape.maxDimension.transform(
        (pixels) => pixels || DIMENSION_MAX,
      ),
    },
    annotations: READING,
    text({ width, height, mime_type: type, bytes, truncated }, { target, fullPage }) {
      const what = target ?? (fullPage ? 'the whole page' : 'the viewport');
      const size = `${String(width)}x${String(height)} ${String(type)}, ${Math.ceil(Number(bytes) / 1024)} KB`;
      const cut = '\n- Truncated: the browser draws at most 16384 pixels';
      return `Screenshot of ${what}: ${size}${truncated === true ? cut : ''}`;
    },
  },
  run: (params, context) =>
    runCall(context, 'screenshot', params, async (engine, call) => {
      let taken = await engine.screenshot(params, call);
      const isPngAlone = engine.protocol === 'ffi';
      for (const smaller of params.maxDimension > 0 ? smallerRequests(params, isPngAlone) : []) {
        if (taken.bytes <= (smaller.quality === undefined ? BYTES_MAX : BYTES_HARD_MAX)) break;
        taken = await engine.screenshot(smaller, call);
      }
      return shotData(taken);
    }),
});

/** The requests that are tried for an image that is too large to send. */
function smallerRequests(
  request: ScreenshotRequest,
  isPngAlone: boolean,
): readonly ScreenshotRequest[] {
  const jpeg = isPngAlone
    ? request
    : ({ ...request, format: 'jpeg', omitBackground: false } as const);
  const scaled = SMALLER_BY.map((divisor) => ({
    ...jpeg,
    quality: QUALITY_LOW,
    maxDimension: Math.max(1, Math.floor(request.maxDimension / divisor)),
  }));
  return isPngAlone ? scaled : [{ ...jpeg, quality: undefined }, ...scaled];
}

function shotData({ mimeType, ...shot }: ScreenshotOutcome) {
  return { mime_type: mimeType, ...shot };
}
