import type { Protocol } from 'devtools-protocol';
import type { ScreenshotRequest } from '../../commands/params.ts';
import type { EngineCall, Rect, ScreenshotOutcome } from '../../engine.ts';
import { notReadyError } from '../../session/element-errors.ts';
import { parseTarget } from '../../session/target.ts';
import { pageError, type ToolError } from '../../errors.ts';
import { CdpError } from '../cdp-connection.ts';
import type { PageScripts } from './page-scripts.ts';
import type { Browser } from '../browser.ts';
import type { Elements } from '../input/elements.ts';
import { imageSize } from './image-size.ts';
import type { Page } from './page.ts';

// Chromium draws at most this many pixels.
const SIDE_PIXELS_MAX = 16_384;
const QUALITY_DEFAULT = 80;

/** Takes a screenshot of the viewport, the whole page or one element. */
export async function screenshot(
  page: Page,
  { deviceScaleFactor }: Pick<Browser, 'deviceScaleFactor'>,
  scripts: PageScripts,
  elements: Elements,
  request: ScreenshotRequest,
  call: EngineCall,
): Promise<ScreenshotOutcome> {
  const { target, fullPage, omitBackground } = request;
  const metrics = await page.send('Page.getLayoutMetrics');
  const area =
    target === undefined
      ? pageArea(metrics, fullPage)
      : await elementArea(page, scripts, elements, target, request.timeoutMs, call);
  call.signal.throwIfAborted();
  if (omitBackground) await setBackground(page, { r: 0, g: 0, b: 0, a: 0 });
  try {
    return await capture(page, request, area, deviceScaleFactor);
  } finally {
    if (omitBackground) await setBackground(page, undefined);
  }
}

interface Area extends Rect {
  /** Whether it is completely inside of the viewport. */
  readonly isInView: boolean;
  /** Whether it was cut because it is too large. */
  readonly isCut: boolean;
}

async function capture(
  page: Page,
  { format, quality, maxDimension }: ScreenshotRequest,
  area: Area,
  pixels: number,
): Promise<ScreenshotOutcome> {
  const longSide = Math.max(area.width, area.height) * pixels;
  const scale = maxDimension > 0 && longSide > maxDimension ? maxDimension / longSide : 1;
  const { x, y, width, height } = area;
  const image = page.send('Page.captureScreenshot', {
    format,
    ...(format === 'png' ? {} : { quality: quality ?? QUALITY_DEFAULT }),
    // Four times as fast, and a quarter larger.
    optimizeForSpeed: true,
    clip: { x, y, width, height, scale },
    captureBeyondViewport: !area.isInView,
  });
  const { data } = await image.catch((error: unknown) => {
    throw isNotDrawn(error) ? notDrawn(area, pixels * scale) : error;
  });
  const bytes = Buffer.from(data, 'base64');
  const measured = [
    Math.round(width * pixels * scale),
    Math.round(height * pixels * scale),
  ] as const;
  const [realWidth, realHeight] = imageSize(bytes) ?? measured;
  return {
    data,
    mimeType: `image/${format}`,
    width: realWidth,
    height: realHeight,
    scale,
    bytes: bytes.length,
    truncated: area.isCut,
  };
}

const isNotDrawn = (error: unknown): boolean =>
  error instanceof CdpError && /unable to capture/i.test(error.message);

/** The browser has not enough memory for an image of this size. */
function notDrawn({ width, height }: Rect, factor: number): ToolError {
  const size = { width: Math.round(width * factor), height: Math.round(height * factor) };
  return pageError('notDrawn', size, size);
}

type Metrics = Protocol.Page.GetLayoutMetricsResponse;

function pageArea({ cssVisualViewport, cssContentSize }: Metrics, fullPage: boolean): Area {
  const { pageX, pageY, clientWidth, clientHeight } = cssVisualViewport;
  if (!fullPage) {
    const view = { x: pageX, y: pageY, width: clientWidth, height: clientHeight };
    return { ...view, isInView: true, isCut: false };
  }
  return {
    x: 0,
    y: 0,
    ...drawable(Math.ceil(cssContentSize.width), Math.ceil(cssContentSize.height)),
    isInView: cssContentSize.height <= clientHeight && cssContentSize.width <= clientWidth,
  };
}

async function elementArea(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  target: string,
  timeoutMs: number,
  call: EngineCall,
): Promise<Area> {
  const options = { action: 'focus', force: false, timeoutMs } as const;
  const { frameId, element } = await elements.ready(page, target, options, call);
  const query = parseTarget(element.ref);
  const found = await scripts.call(page, frameId, 'locate', { query, scroll: true }, call);
  if (!found.ok) throw notReadyError(target, found, 0);
  const { width, height } = found.box;
  if (!found.isVisible || width === 0 || height === 0) {
    throw notReadyError(target, { ok: false, why: 'not-visible', element: found.element }, 0);
  }
  const { point } = await elements.pagePoint(page, frameId, found.box, call);
  // Waiting for the element may have scrolled the page.
  const { cssVisualViewport: view } = await page.send('Page.getLayoutMetrics');
  const isInView =
    point.x >= 0 &&
    point.y >= 0 &&
    point.x + width <= view.clientWidth &&
    point.y + height <= view.clientHeight;
  return {
    x: point.x + view.pageX,
    y: point.y + view.pageY,
    ...drawable(width, height),
    isInView,
  };
}

function drawable(width: number, height: number): Pick<Area, 'width' | 'height' | 'isCut'> {
  return {
    width: Math.min(width, SIDE_PIXELS_MAX),
    height: Math.min(height, SIDE_PIXELS_MAX),
    isCut: Math.max(width, height) > SIDE_PIXELS_MAX,
  };
}

async function setBackground(page: Page, color: Protocol.DOM.RGBA | undefined): Promise<void> {
  await page.send(
    'Emulation.setDefaultBackgroundColorOverride',
    color === undefined ? {} : { color },
  );
}
