import { setTimeout as delay } from 'node:timers/promises';
import { imageSize } from '../chromium/page/image-size.ts';
import type { EngineCall, EngineMethod } from '../engine.ts';
import { notReadyError } from '../session/not-ready.ts';
import { ToolError } from '../errors.ts';
import { queryOf, type FfiContext } from './ffi-context.ts';
import { notSupported } from './native-calls.ts';

const POLL_MS = 100;
const NODES_MAX = 50_000;

/** Elements of the DOM. */
export const domFfi: EngineMethod<'dom', FfiContext> = async (ffi, request, call) => {
  const { selector, ...rest } = request;
  const query = selector === undefined ? undefined : await queryOf(ffi, selector, call);
  const found = await ffi.channel.callScript('inspect', { ...rest, query }, call);
  if (!found.ok) throw notReadyError(selector ?? '', found, 0);
  return { count: found.count, matches: found.matches, truncated: found.truncated };
};

/** The accessibility tree of the page. */
export const snapshotFfi: EngineMethod<'snapshot', FfiContext> = async (
  ffi,
  { target, urls, boxes },
  call,
) => {
  const { channel } = ffi;
  const query = target === undefined ? undefined : await queryOf(ffi, target, call);
  const tree = await channel.callScript('tree', { query, urls, boxes, nodesMax: NODES_MAX }, call);
  if (!tree.ok) throw notReadyError(target ?? '', tree, 0);
  const address = await channel.callScript('address', undefined, call);
  return { ...address, nodes: tree.nodes, truncated: tree.truncated };
};

/** Waits until an element has the requested state, or until the timeout. */
export const waitForFfi: EngineMethod<'waitFor', FfiContext> = async (
  ffi,
  { target, state, timeoutMs },
  call,
) => {
  const query = await queryOf(ffi, target, call);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await ffi.channel.callScript('count', { query }, call);
    if (!found.ok) throw notReadyError(target, found, 0);
    const isReached = {
      attached: found.count > 0,
      visible: found.visible > 0,
      hidden: found.visible === 0,
      detached: found.count === 0,
    }[state];
    if (isReached || performance.now() > deadline) return { found: isReached, count: found.count };
    await delay(POLL_MS);
    call.signal.throwIfAborted();
  }
};

/** A screenshot of the page or of one element. Engines return PNG and may ignore the scale. */
export const screenshotFfi: EngineMethod<'screenshot', FfiContext> = async (
  ffi,
  { target, fullPage, format, maxDimension, omitBackground },
  call,
) => {
  if (format !== 'png') throw notSupported(ffi.backend, `${format} screenshots, only png`);
  const area = await areaOf(ffi, target, fullPage, call);
  const longest = Math.max(area.width, area.height, 1);
  const scale = maxDimension > 0 && longest > maxDimension ? maxDimension / longest : 1;
  const params = {
    clip: target === undefined && scale === 1 ? null : { ...area, scale },
    full_page: fullPage,
    omit_background: omitBackground,
  };
  const bytes = Buffer.from(await ffi.native.screenshot(params, call));
  const size = imageSize(bytes);
  if (size === undefined) throw new ToolError('INTERNAL', 'the engine returned no PNG.');
  return {
    data: bytes.toString('base64'),
    mimeType: 'image/png',
    width: size[0],
    height: size[1],
    scale,
    bytes: bytes.length,
    truncated: false,
  };
};

async function areaOf(
  ffi: FfiContext,
  target: string | undefined,
  fullPage: boolean,
  call: EngineCall,
) {
  if (target !== undefined) {
    const query = await queryOf(ffi, target, call);
    const found = await ffi.channel.callScript('locate', { query, scroll: true }, call);
    if (!found.ok) throw notReadyError(target, found, 0);
    if (!found.isVisible)
      throw notReadyError(target, { ok: false, why: 'not-visible', element: found.element }, 0);
    return found.box;
  }
  const size = fullPage
    ? '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'
    : '[innerWidth, innerHeight]';
  const result = await ffi.channel.run(`() => ${size}`, call);
  const [width = 0, height = 0] = result.ok ? (result.response.value as readonly number[]) : [];
  return { x: 0, y: 0, width, height };
}
