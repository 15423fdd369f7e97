import { setTimeout as delay } from 'node:timers/promises';
import { notSupported } from '@model-gateway/browser-ffi';
import { imageSize } from '../chromium/page/image-size.ts';
import type { EngineCall, EngineMethod } from '../engine.ts';
import { ToolError } from '../errors.ts';
import { notReadyError } from '../session/element-errors.ts';
import { checkResultSize } from '../session/result-size.ts';
import { callScript, queryOf, refOf, type ForeignPage } from './foreign-page.ts';

const POLL_MS = 100;
const NODES_MAX = 50_000;

/** Evaluates a caller's function or expression in the page. */
export const evaluate: EngineMethod<'evaluate', ForeignPage> = async (
  page,
  { function: source, args, target, awaitPromise, timeoutMs },
  call,
) => {
  const ref = target === undefined ? undefined : await refOf(page, target, call);
  const { json, type, truncated } = await page.engine.evaluate(
    { source, args, ref, awaitPromise, timeoutMs },
    call,
  );
  checkResultSize(json?.length ?? 0);
  return { result: json === undefined ? null : (JSON.parse(json) as unknown), type, truncated };
};

/** Elements of the DOM. */
export const dom: EngineMethod<'dom', ForeignPage> = async (page, request, call) => {
  const { selector, ...rest } = request;
  const query = selector === undefined ? undefined : await queryOf(page, selector, call);
  const found = await callScript(page, 'inspect', { ...rest, query }, call);
  if (!found.ok) throw notReadyError(selector ?? '', found, 0);
  return { count: found.count, matches: found.matches, truncated: found.truncated };
};

/** The accessibility tree of the page. */
export const snapshot: EngineMethod<'snapshot', ForeignPage> = async (
  page,
  { target, urls, boxes },
  call,
) => {
  const query = target === undefined ? undefined : await queryOf(page, target, call);
  const tree = await callScript(page, 'tree', { query, urls, boxes, nodesMax: NODES_MAX }, call);
  if (!tree.ok) throw notReadyError(target ?? '', tree, 0);
  const address = await page.engine.address(call);
  return { ...address, nodes: tree.nodes, truncated: tree.truncated };
};

/** Waits until an element has the requested state, or until the timeout. */
export const waitFor: EngineMethod<'waitFor', ForeignPage> = async (
  page,
  { target, state, timeoutMs },
  call,
) => {
  const query = await queryOf(page, target, call);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await callScript(page, 'count', { query }, call);
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
export const screenshot: EngineMethod<'screenshot', ForeignPage> = async (
  page,
  { target, fullPage, format, maxDimension, omitBackground },
  call,
) => {
  const { engine } = page;
  if (format !== 'png') throw notSupported(engine.backend, `${format} screenshots, only png`);
  const area = await areaOf(page, target, fullPage, call);
  const longest = Math.max(area.width, area.height, 1);
  const scale = maxDimension > 0 && longest > maxDimension ? maxDimension / longest : 1;
  const params = {
    clip: target === undefined && scale === 1 ? null : { ...area, scale },
    full_page: fullPage,
    omit_background: omitBackground,
  };
  const bytes = Buffer.from(await engine.screenshot(params, call));
  const size = imageSize(bytes);
  if (size === undefined) throw new ToolError('INTERNAL', 'the engine returned no PNG.');
  const [width, height] = size;
  const data = bytes.toString('base64');
  const mimeType = 'image/png';
  return { data, mimeType, width, height, scale, bytes: bytes.length, truncated: false };
};

async function areaOf(
  page: ForeignPage,
  target: string | undefined,
  fullPage: boolean,
  call: EngineCall,
) {
  if (target === undefined) {
    const [width, height] = await page.engine.readSize(fullPage, call);
    return { x: 0, y: 0, width, height };
  }
  const query = await queryOf(page, target, call);
  const found = await callScript(page, 'locate', { query, scroll: true }, call);
  if (!found.ok) throw notReadyError(target, found, 0);
  if (!found.isVisible)
    throw notReadyError(target, { ok: false, why: 'not-visible', element: found.element }, 0);
  return found.box;
}
