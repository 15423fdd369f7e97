import type { DomRequest } from '../commands/params.ts';
import type { DomElement } from '../engine.ts';
import { matchesSelector, propertyOf } from './composed-tree.ts';
import { refOf } from './element-refs.ts';
import { findElements, type PageQuery } from './find-elements.ts';
import type { NotReady } from './readiness.ts';
import { clipText, normalizeText } from './page-text.ts';
import { isVisible } from './visibility.ts';

interface InspectionRequest extends Omit<DomRequest, 'selector'> {
  readonly query?: PageQuery | undefined;
}

const COMPUTED_PROPERTIES: readonly string[] = [
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
  const { maxChars } = request;
  const budget = { html: maxChars, text: maxChars, value: maxChars, isCut: false };
  const matches = shown.map((element) => inspectElement(element, request, budget));
  const truncated = budget.isCut || (shown.length < found.length && request.all);
  return { ok: true, count: found.length, matches, truncated };
}

/** How many characters are left, for markup, for text, and for the values of the requested attribute. */
interface InspectionBudget {
  html: number;
  text: number;
  value: number;
  isCut: boolean;
}

function inspectElement(
  element: Element,
  request: InspectionRequest,
  budget: InspectionBudget,
): DomElement {
  const take = (kind: 'html' | 'text' | 'value', whole: string): string => {
    const taken = clipText(whole, Math.max(1, budget[kind]));
    if (taken.length < whole.length) budget.isCut = true;
    budget[kind] = Math.max(0, budget[kind] - taken.length);
    return taken;
  };
  const { x, y, width, height } = element.getBoundingClientRect();
  const { attribute, computed, html } = request;
  const value = attribute === undefined ? null : shownAttribute(element, attribute);
  const text = normalizeText((element as HTMLElement).innerText ?? element.textContent);
  return {
    ref: refOf(element),
    tag: element.localName,
    text: take('text', text),
    ...(html === 'none' ? {} : { html: take('html', markupOf(element, html)) }),
    attributes: Object.fromEntries(
      [...propertyOf(element, 'attributes')].map(({ name }) => [
        name,
        clipText(shownAttribute(element, name) ?? '', 2_000),
      ]),
    ),
    ...(attribute === undefined ? {} : { value: value === null ? null : take('value', value) }),
    visible: isVisible(element),
    rect: { x, y, width, height },
    ...(computed === false ? {} : { computed: computedStyles(element, computed) }),
  };
}

function computedStyles(
  element: Element,
  names: true | readonly string[],
): Readonly<Record<string, string>> {
  const style = getComputedStyle(element);
  const properties = names === true ? COMPUTED_PROPERTIES : names;
  return Object.fromEntries(properties.map((name) => [name, style.getPropertyValue(name)]));
}

/** Password fields whose value is also in the markup: servers may send it, and frameworks set it while the user types. */
const PASSWORDS_IN_MARKUP = 'input[type=password][value]:not([value=""])';

/** An attribute; bullets for the value of a password field. */
function shownAttribute(element: Element, name: string): string | null {
  const isSecret = name.toLowerCase() === 'value' && matchesSelector(element, PASSWORDS_IN_MARKUP);
  return isSecret ? '•••' : element.getAttribute(name);
}

/** The markup of an element, with bullets as values of password fields. */
function markupOf(element: Element, kind: 'outer' | 'inner'): string {
  const isSecret =
    matchesSelector(element, PASSWORDS_IN_MARKUP) ||
    element.querySelector(PASSWORDS_IN_MARKUP) !== null;
  // A document without a window runs nothing of what is copied into it.
  const shown = isSecret
    ? document.implementation.createHTMLDocument().importNode(element, true)
    : element;
  if (isSecret) {
    for (const field of [shown, ...shown.querySelectorAll(PASSWORDS_IN_MARKUP)])
      if (matchesSelector(field, PASSWORDS_IN_MARKUP)) field.setAttribute('value', '•••');
  }
  return kind === 'outer' ? shown.outerHTML : shown.innerHTML;
}
