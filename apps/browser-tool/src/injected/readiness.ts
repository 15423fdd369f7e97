import type { ElementReport } from '../engine.ts';
import { isComposedAncestor, matchesSelector, propertyOf, searchRoots } from './composed-tree.ts';
import { refOf, reportElement } from './element-refs.ts';
import { findElements, preferVisible, type PageQuery } from './find-elements.ts';
import { coverAt } from './hit-test.ts';
import { tagMarkup } from './page-text.ts';
import { expectPress, forgetPress } from './press.ts';
import { isDisabled, isEditingHost } from './role.ts';
import { isVisible } from './visibility.ts';
import { isScriptless, nextAnimationFrame } from './waiting.ts';

export interface ReadinessRequest {
  readonly query: PageQuery;
  readonly action: 'click' | 'type' | 'press' | 'focus';
  readonly position?: { readonly x: number; readonly y: number } | undefined;
  readonly force: boolean;
  /** Whether a press of a mouse button follows at once, and must reach the element. */
  readonly expectsPress?: boolean | undefined;
  readonly timeoutMs: number;
}

export interface ReadyPoint {
  readonly x: number;
  readonly y: number;
}

/** Why an element is not ready, with the data for a message. */
export interface NotReady {
  readonly ok: false;
  readonly why:
    | 'not-found'
    | 'stale'
    | 'ambiguous'
    | 'invalid-selector'
    | 'not-visible'
    | 'out-of-view'
    | 'moving'
    | 'disabled'
    | 'not-editable'
    | 'covered';
  readonly element?: ElementReport;
  readonly cover?: {
    readonly markup: string;
    readonly ref: string;
    /** Whether it contains the element, which then lets clicks through. */
    readonly isAround?: boolean;
  };
  readonly candidates?: readonly ElementReport[];
  readonly count?: number;
  readonly message?: string;
  /** Whether to check again, because the document cannot wait itself. */
  readonly mayChange?: boolean;
}

type Readiness =
  | NotReady
  | { readonly ok: true; readonly element: ElementReport; readonly point: ReadyPoint };

const COVER_TIMEOUT_MS = 1_000;

/** Waits until an element is ready and returns the point to act on, or the reason at the timeout. */
export async function awaitReadiness(request: ReadinessRequest): Promise<Readiness> {
  const start = performance.now();
  const pauses = [0, 16, 50];
  let covered: { key: string; since: number } | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const checkedAt = performance.now();
    const state = await checkReadiness(request);
    if (state.ok || isFinal(state.why)) return state;
    if (isScriptless()) return { ...state, mayChange: state.why !== 'covered' };
    const now = performance.now();
    let pause = pauses[attempt] ?? 100;
    if (state.why === 'covered') {
      const key = coverKey(state);
      if (covered?.key !== key) covered = { key, since: checkedAt };
      const remainingMs = covered.since + COVER_TIMEOUT_MS - now;
      if (remainingMs <= 0) return state;
      // The last check is at the end of the limit, not after another full pause.
      pause = Math.min(pause, remainingMs);
    } else covered = undefined;
    if (now + pause - start > request.timeoutMs) return state;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Whether waiting cannot help. */
function isFinal(why: NotReady['why']): boolean {
  return why === 'stale' || why === 'ambiguous' || why === 'invalid-selector';
}

/** Identifies a cover and its position. */
function coverKey(state: NotReady): string {
  const ref = state.cover?.ref ?? '';
  const cover = findElements({ kind: 'ref', ref })[0];
  const rect = cover?.getBoundingClientRect();
  return [ref, rect?.x, rect?.y, rect?.width, rect?.height].join(' ');
}

/** Checks once that an element is found, visible, stable, enabled, editable and not covered. */
async function checkReadiness(request: ReadinessRequest): Promise<Readiness> {
  forgetPress();
  const found = findOne(request.query);
  if (!found.ok) return found;
  const element = actedOn(found.element, request.action);
  const failed = (why: NotReady['why']): NotReady => ({
    ok: false,
    why,
    element: reportElement(element),
  });
  const isOption = element.localName === 'option' && element.closest('select') !== null;
  if (request.force || isOption || request.action === 'focus') {
    scrollToElement(element);
    return { ok: true, element: reportElement(element), point: pointIn(element, request.position) };
  }
  if (request.action === 'type' && !isEditableKind(element)) {
    const kind = element.localName === 'input' ? (element as HTMLInputElement).type : '';
    return { ...failed('not-editable'), message: kind };
  }
  const label = request.action === 'click' ? visibleLabelOf(element) : undefined;
  const shown = label ?? element;
  if (!isVisible(shown)) return failed('not-visible');
  scrollToElement(shown);
  if (request.action === 'press') {
    if (isDisabled(element)) return failed('disabled');
    return { ok: true, element: reportElement(element), point: pointIn(element, undefined) };
  }
  if (!(await isStable(shown)))
    return failed(propertyOf(element, 'isConnected') ? 'moving' : 'not-found');
  if (isDisabled(element)) return failed('disabled');
  if (request.action === 'type' && isReadOnly(element)) return failed('not-editable');
  // A label starts with its mark or first word; there may be a link in its middle.
  const position = label === undefined ? request.position : { x: 4, y: label.clientHeight / 2 };
  const point = pointIn(shown, position);
  const cover = coverAt(shown, point);
  if (cover === 'outside') return failed('out-of-view');
  if (cover !== undefined) {
    const isAround = isComposedAncestor(cover, shown);
    return {
      ...failed('covered'),
      cover: { markup: tagMarkup(cover), ref: refOf(cover), isAround },
    };
  }
  if (request.expectsPress === true) expectPress(shown, point);
  return { ok: true, element: reportElement(element), point };
}

/** The element that an action is for: text and keys for a label go to its control. */
function actedOn(element: Element, action: ReadinessRequest['action']): Element {
  if (action === 'type') return fieldOf(element);
  const control = element.localName === 'label' ? (element as HTMLLabelElement).control : null;
  return action === 'press' && control !== null ? control : element;
}

/** The visible label that replaces a hidden checkbox, radio button or file input. */
function visibleLabelOf(element: Element): HTMLElement | undefined {
  if (!matchesSelector(element, 'input[type=checkbox], input[type=radio], input[type=file]'))
    return undefined;
  if (isVisible(element)) return undefined;
  return [...((element as HTMLInputElement).labels ?? [])].find((label) => isVisible(label));
}

/** The one element that matches a query, or why there is none. */
export function findOne(
  query: PageQuery,
): NotReady | { readonly ok: true; readonly element: Element } {
  let found: readonly Element[];
  try {
    found = preferVisible(findElements(query));
  } catch (error) {
    return { ok: false, why: 'invalid-selector', message: (error as Error).message };
  }
  const [element] = found;
  if (element === undefined)
    return { ok: false, why: query.kind === 'ref' ? 'stale' : 'not-found' };
  if (found.length > 1) {
    const candidates = found.slice(0, 5).map((each) => reportElement(each));
    return { ok: false, why: 'ambiguous', candidates, count: found.length };
  }
  return { ok: true, element };
}

/** Scrolls an element into view if it is not. */
export function scrollToElement(element: Element): void {
  const { top, left, bottom, right } = element.getBoundingClientRect();
  const isInView = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  if (isInView && coverAt(element, pointIn(element, undefined)) === undefined) return;
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
}

/** Whether its box is the same in two animation frames. */
async function isStable(element: Element): Promise<boolean> {
  const boxOf = (): string => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height].join(' ');
  };
  if (isScriptless()) return propertyOf(element, 'isConnected');
  await animationsStarted(element);
  // Until the next frame this is the box of the previous one.
  const before = boxOf();
  for (let frames = 0; frames < 2; frames += 1) {
    const isMoving = isAnimated(element);
    // An animation may not move in its first frame, and one that turns back is where it was two frames ago.
    if (frames === 1 && !isMoving) break;
    const hasCome = await nextAnimationFrame(isMoving ? 1_000 : 200);
    // On a loaded machine frames take longer, and without a frame nothing moves. Pages in the background have none.
    if (isMoving && !hasCome && document.visibilityState === 'visible') return false;
    if (boxOf() !== before) return false;
  }
  return propertyOf(element, 'isConnected');
}

/** Whether an animation runs in the document or in a shadow root around an element. */
function isAnimated(element: Element): boolean {
  return animationsAround(element).length > 0;
}

/** The running animations of the document and of the shadow roots around an element. */
function animationsAround(element: Element): readonly Animation[] {
  const found: Animation[] = [];
  let root = element.getRootNode();
  for (; root instanceof ShadowRoot; root = root.host.getRootNode())
    found.push(...root.getAnimations());
  if (root instanceof Document) found.push(...root.getAnimations());
  return found.filter(({ playState }) => playState === 'running');
}

/** Waits for animations that were asked for and have not begun: on a loaded machine they do not move for several frames. */
async function animationsStarted(element: Element): Promise<void> {
  const pending = animationsAround(element).filter((animation) => animation.pending);
  if (pending.length === 0) return;
  const started = Promise.allSettled(pending.map((animation) => animation.ready));
  await Promise.race([started, new Promise((resolve) => setTimeout(resolve, 1_000))]);
}

/** The point to click: the given position, or the middle of the visible part of the first box. */
function pointIn(
  element: Element,
  position: { readonly x: number; readonly y: number } | undefined,
): ReadyPoint {
  const whole = element.getBoundingClientRect();
  if (position !== undefined) return { x: whole.left + position.x, y: whole.top + position.y };
  const box = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
  const { left, right, top, bottom } = box ?? contentBox(element);
  const middle = (from: number, to: number, limit: number): number => {
    const [low, high] = [Math.max(from, 0), Math.min(to, limit)];
    return low < high ? (low + high) / 2 : (from + to) / 2;
  };
  return { x: middle(left, right, innerWidth), y: middle(top, bottom, innerHeight) };
}

/** The box of the content of an element that has no box. */
function contentBox(element: Element): DOMRect {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect();
}

/** The field of an element: itself, the control of a label, or the only field inside of a component. */
function fieldOf(element: Element): Element {
  if (isEditableKind(element)) return element;
  const control = element.localName === 'label' ? (element as HTMLLabelElement).control : null;
  if (control !== null && isEditableKind(control)) return control;
  const shadow = propertyOf(element, 'shadowRoot');
  if (shadow === null) return element;
  const fields = searchRoots(shadow)
    .flatMap((root) => [...root.querySelectorAll('input, textarea, select, [contenteditable]')])
    .filter((field) => isEditableKind(field) && isVisible(field));
  return fields.length === 1 && fields[0] !== undefined ? fields[0] : element;
}

/** Whether this kind of element accepts text. */
function isEditableKind(element: Element): boolean {
  const tag = element.localName;
  if (tag === 'textarea' || tag === 'select' || isEditingHost(element)) return true;
  if (tag !== 'input') return (element as HTMLElement).isContentEditable;
  const textless = ['button', 'checkbox', 'file', 'hidden', 'image', 'radio', 'reset', 'submit'];
  return !textless.includes((element.getAttribute('type') ?? 'text').toLowerCase());
}

/** Whether the page made it read-only. */
function isReadOnly(element: Element): boolean {
  return matchesSelector(element, 'input[readonly], textarea[readonly], [aria-readonly=true]');
}
