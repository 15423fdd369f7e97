import { matchesSelector, propertyOf } from './composed-tree.ts';
import { coverOf, deepElementFromPoint } from './hit-test.ts';
import { tagMarkup } from './page-text.ts';

/** Where a press of a mouse button arrived; unknown if no press was expected, or another frame may have received it. */
export type PressArrival =
  | { readonly at: 'unknown' }
  | { readonly at: 'target'; readonly isReleased: boolean }
  | { readonly at: 'other-element'; readonly markup: string }
  /** Not in this document, unless a closed shadow root of the target contains a frame. */
  | { readonly at: 'nowhere'; readonly mayBeInFrame: boolean };

/** The press that the tool is about to send to this document. */
interface ExpectedPress {
  readonly target: Element;
  readonly mayBeInFrame: boolean;
  readonly endsAt: number;
  arrival: PressArrival | undefined;
  isReleased: boolean;
}

let expected: ExpectedPress | undefined;

/** After this time a press is not from the tool, which may have been killed. */
const PRESS_TIMEOUT_MS = 10_000;

const PRESS_EVENTS: readonly string[] = [
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'auxclick',
  'dblclick',
  'contextmenu',
];

const PRESSED_EVENTS: readonly string[] = ['pointerdown', 'mousedown'];
const RELEASED_EVENTS: readonly string[] = ['pointerup', 'mouseup'];

const FRAME_ELEMENTS = 'iframe, frame, object, embed, fencedframe';

/** The elements that can have a closed shadow root, besides custom elements. */
const SHADOW_HOSTS =
  'article, aside, blockquote, body, div, footer, h1, h2, h3, h4, h5, h6, header, main, nav, p, section, span';

/** Expects a press at a point of an element. Until it was read where it arrives, other elements do not receive it. */
export function expectPress(
  target: Element,
  { x, y }: { readonly x: number; readonly y: number },
): void {
  const hit = deepElementFromPoint(x, y);
  // A frame receives the presses at its element.
  if (hit === undefined || matchesSelector(hit, FRAME_ELEMENTS)) return;
  expected = {
    target,
    mayBeInFrame: hit.localName.includes('-') || matchesSelector(hit, SHADOW_HOSTS),
    endsAt: performance.now() + PRESS_TIMEOUT_MS,
    arrival: undefined,
    isReleased: false,
  };
  // The page may have removed the listeners, by document.open().
  listenForPresses();
}

/** Stops expecting a press. */
export function forgetPress(): void {
  expected = undefined;
}

/** Adds the listeners. Those that are added before the page's own cannot be bypassed by the page. */
export function listenForPresses(): void {
  for (const type of PRESS_EVENTS) addEventListener(type, handlePressEvent, true);
}

function handlePressEvent(event: Event): void {
  if (expected === undefined || !event.isTrusted || performance.now() > expected.endsAt) return;
  // While a dialog is open the browser drops events: of a click both, or only one.
  if (PRESSED_EVENTS.includes(event.type)) expected.arrival ??= arrivalOf(event, expected.target);
  if (RELEASED_EVENTS.includes(event.type)) expected.isReleased = true;
  if (expected.arrival?.at !== 'other-element') return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function arrivalOf(event: Event, target: Element): PressArrival {
  const path = event.composedPath();
  const [hit] = path;
  if (!(hit instanceof Element) || path.includes(target))
    return { at: 'target', isReleased: false };
  // A page that draws itself again may replace an element by an equal one.
  const isTarget = propertyOf(target, 'isConnected')
    ? coverOf(target, hit) === undefined
    : hit.closest(target.localName) !== null;
  return isTarget
    ? { at: 'target', isReleased: false }
    : { at: 'other-element', markup: tagMarkup(hit) };
}

/** Returns where the expected press arrived, and stops expecting it. To be called once the browser has sent it. */
export function readPressArrival(): PressArrival {
  const press = expected;
  forgetPress();
  if (press === undefined) return { at: 'unknown' };
  const { mayBeInFrame, endsAt, arrival, isReleased } = press;
  if (arrival?.at === 'target') return { at: 'target', isReleased };
  if (arrival !== undefined) return arrival;
  return performance.now() <= endsAt ? { at: 'nowhere', mayBeInFrame } : { at: 'unknown' };
}
