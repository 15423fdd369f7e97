import { accessibleTree } from './accessible-tree.ts';
import { clickOption, focusedElement, focusElement, readField, startEditing } from './editing.ts';
import { countRefsFrom, elementOf, nextRef, refOf, reportElement } from './element-refs.ts';
import { findElements, type PageQuery } from './find-elements.ts';
import { coverAt } from './hit-test.ts';
import { inspectElements } from './inspection.ts';
import { clipText, tagMarkup } from './page-text.ts';
import { readPressArrival } from './press.ts';
import { awaitQuiet } from './quiet.ts';
import { awaitReadiness, findOne, scrollToElement, type NotReady } from './readiness.ts';
import { isVisible } from './visibility.ts';
import { nextAnimationFrame } from './waiting.ts';

export { elementOf, issuedRefOf } from './element-refs.ts';
export { listenForPresses } from './press.ts';

/** The methods of the tool's scripts in a page. Parameters and results are JSON. */
const scriptMethods = {
  address: pageAddress,
  clickOption,
  count: countElements,
  edit: startEditing,
  focus: focusElement,
  focused: focusedElement,
  inspect: inspectElements,
  locate: locateElement,
  pressArrival: readPressArrival,
  quiet: awaitQuiet,
  read: readField,
  ready: awaitReadiness,
  scroll: scrollPage,
  tree: accessibleTree,
};

export type ScriptMethods = typeof scriptMethods;

export type ScriptResults = {
  [Method in keyof ScriptMethods]: Awaited<ReturnType<ScriptMethods[Method]>>;
};

/** The response of a call: the result, and the number of the next ref. */
export interface ScriptResponse<Method extends keyof ScriptMethods> {
  readonly value: ScriptResults[Method];
  readonly next: number;
}

/** Runs one method; new refs start at `next`. */
export async function callScript(
  method: keyof ScriptMethods,
  parameters: object,
  next: number,
): Promise<{ readonly value: unknown; readonly next: number }> {
  countRefsFrom(next);
  const run = scriptMethods[method] as (given: object) => unknown;
  const value = await run(parameters);
  return { value, next: nextRef() };
}

/** Longer titles are cut, because every result contains the title. */
const TITLE_CHARS_MAX = 1_000;

function pageAddress(): { readonly url: string; readonly title: string } {
  return { url: location.href, title: clipText(document.title, TITLE_CHARS_MAX) };
}

/** How many elements match a query, and how many of them are visible. */
function countElements({
  query,
}: {
  readonly query: PageQuery;
}): NotReady | { readonly ok: true; readonly count: number; readonly visible: number } {
  try {
    const found = findElements(query);
    const visible = found.filter((element) => isVisible(element)).length;
    return { ok: true, count: found.length, visible };
  } catch (error) {
    return { ok: false, why: 'invalid-selector', message: (error as Error).message };
  }
}

/** The one element that matches a query, and its position on the page. */
function locateElement({ query, scroll }: { readonly query: PageQuery; readonly scroll: boolean }):
  | NotReady
  | {
      readonly ok: true;
      readonly element: ReturnType<typeof reportElement>;
      readonly isVisible: boolean;
      readonly box: {
        readonly x: number;
        readonly y: number;
        readonly width: number;
        readonly height: number;
      };
    } {
  const found = findOne(query);
  if (!found.ok) return found;
  const { element } = found;
  if (scroll) scrollToElement(element);
  const { x, y, width, height } = element.getBoundingClientRect();
  return {
    ok: true,
    element: reportElement(element),
    isVisible: isVisible(element),
    box: { x, y, width, height },
  };
}

/** A point of a frame in the coordinates of the parent document. */
export interface FramePoint {
  readonly x: number;
  readonly y: number;
  /** The element that covers the frame at this point. */
  readonly cover?: { readonly markup: string; readonly ref: string };
  /** How much the user, or a phone, zoomed this document. */
  readonly scale: number;
  readonly next: number;
}

/** Scrolls a point of a frame into view, and returns its position in this document and the element that covers it. */
export async function pointInParent(
  frameElement: HTMLElement,
  x: number,
  y: number,
  next: number,
): Promise<FramePoint> {
  countRefsFrom(next);
  const locate = (): { readonly x: number; readonly y: number } => {
    const box = frameElement.getBoundingClientRect();
    const style = getComputedStyle(frameElement);
    const scaleX = frameElement.offsetWidth > 0 ? box.width / frameElement.offsetWidth : 1;
    const scaleY = frameElement.offsetHeight > 0 ? box.height / frameElement.offsetHeight : 1;
    const insetX = frameElement.clientLeft + Number.parseFloat(style.paddingLeft);
    const insetY = frameElement.clientTop + Number.parseFloat(style.paddingTop);
    return { x: box.left + (insetX + x) * scaleX, y: box.top + (insetY + y) * scaleY };
  };
  let point = locate();
  if (point.x < 0 || point.y < 0 || point.x > innerWidth || point.y > innerHeight) {
    scrollBy({
      left: point.x - innerWidth / 2,
      top: point.y - innerHeight / 2,
      behavior: 'instant',
    });
    // The page may move the frame when it scrolls.
    await nextAnimationFrame(200);
    point = locate();
  }
  const cover = coverAt(frameElement, point);
  const report =
    cover === undefined || cover === 'outside'
      ? {}
      : { cover: { markup: tagMarkup(cover), ref: refOf(cover) } };
  // An engine may have no visual viewport.
  const scale = globalThis.visualViewport?.scale ?? 1;
  return { ...point, ...report, scale, next: nextRef() };
}

/** Scrolls the page or an element, and returns the new scroll position. */
function scrollPage({
  ref,
  deltaX,
  deltaY,
  to,
}: {
  readonly ref?: string | undefined;
  readonly deltaX: number;
  readonly deltaY: number;
  readonly to?: 'top' | 'bottom' | undefined;
}): { readonly scrollX: number; readonly scrollY: number } {
  const element = ref === undefined ? document.scrollingElement : elementOf(ref);
  if (element === undefined || element === null) return { scrollX: 0, scrollY: 0 };
  const behavior = 'instant';
  if (ref !== undefined && deltaX === 0 && deltaY === 0 && to === undefined) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior });
    return { scrollX: Math.round(scrollX), scrollY: Math.round(scrollY) };
  }
  if (to !== undefined)
    element.scrollTo({ top: to === 'top' ? 0 : element.scrollHeight, behavior });
  element.scrollBy({ left: deltaX, top: deltaY, behavior });
  return { scrollX: Math.round(element.scrollLeft), scrollY: Math.round(element.scrollTop) };
}
