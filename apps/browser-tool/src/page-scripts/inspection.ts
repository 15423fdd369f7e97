import type { DomElement } from '../engine.ts';
import { refOf } from './element-refs.ts';
import { findElements, type PageQuery } from './find-elements.ts';
import type { NotReady } from './readiness.ts';
import { clipText, normalizeText } from './page-text.ts';
import { isVisible } from './visibility.ts';

export interface InspectionRequest {
  readonly query?: PageQuery | undefined;
  readonly attribute?: string | undefined;
  readonly all: boolean;
  readonly computed: boolean | readonly string[];
  readonly html: 'outer' | 'inner' | 'none';
  readonly limit: number;
  readonly maxChars: number;
}

export const COMPUTED_PROPERTIES: readonly string[] = [
  'display',
  'visibility',
  'opacity',
  'position',
  'z-index',
  'overflow',
  'pointer-events',
  'cursor',
  'color',
  'background-color',
  'font-family',
  'font-size',
  'font-weight',
  'text-align',
  'margin',
  'padding',
  'border',
  'width',
  'height',
];

/** The DOM of the elements that match a query, or of the whole document. */
export function inspectElements(request: InspectionRequest):
  | NotReady
  | {
      readonly ok: true;
      readonly count: number;
      readonly matches: readonly DomElement[];
      readonly truncated: boolean;
    } {
  let found: readonly Element[];
  try {
    // A script may have removed the root element.
    const root: Element | null = document.documentElement;
    found = request.query !== undefined ? findElements(request.query) : root === null ? [] : [root];
  } catch (error) {
    return { ok: false, why: 'invalid-selector', message: (error as Error).message };
  }
  if (request.query?.kind === 'ref' && found.length === 0) return { ok: false, why: 'stale' };
  const shown = found.slice(0, request.all ? request.limit : 1);
  const budget = { html: request.maxChars, text: request.maxChars, isCut: false };
  const matches = shown.map((element) => inspectElement(element, request, budget));
  const truncated = budget.isCut || (shown.length < found.length && request.all);
  return { ok: true, count: found.length, matches, truncated };
}

/** How many characters are left, for markup and for text. */
export interface InspectionBudget {
  html: number;
  text: number;
  isCut: boolean;
}

export function inspectElement(
  element: Element,
  request: InspectionRequest,
  budget: InspectionBudget,
): DomElement {
  const take = (kind: 'html' | 'text', whole: string): string => {
    const taken = clipText(whole, Math.max(1, budget[kind]));
    if (taken.length < whole.length) budget.isCut = true;
    budget[kind] = Math.max(0, budget[kind] - taken.length);
    return taken;
  };
  const { x, y, width, height } = element.getBoundingClientRect();
  const { attribute, computed, html } = request;
  const text = normalizeText((element as HTMLElement).innerText ?? element.textContent);
  return {
    ref: refOf(element),
    tag: element.localName,
    text: take('text', text),
    ...(html === 'none'
      ? {}
      : { html: take('html', html === 'outer' ? element.outerHTML : element.innerHTML) }),
    attributes: Object.fromEntries(
      [...element.attributes].map(({ name, value }) => [name, clipText(value, 2_000)]),
    ),
    ...(attribute === undefined ? {} : { value: element.getAttribute(attribute) }),
    visible: isVisible(element),
    rect: { x, y, width, height },
    ...(computed === false ? {} : { computed: computedStyles(element, computed) }),
  };
}

export function computedStyles(
  element: Element,
  names: true | readonly string[],
): Readonly<Record<string, string>> {
  const style = getComputedStyle(element);
  const properties = names === true ? COMPUTED_PROPERTIES : names;
  return Object.fromEntries(properties.map((name) => [name, style.getPropertyValue(name)]));
}
