import { accessibleName } from './accessible-name.ts';
import {
  composedClosest,
  composedParent,
  matchesSelector,
  propertyOf,
  searchRoots,
} from './composed-tree.ts';
import { elementOf } from './element-refs.ts';
import { normalizeText } from './page-text.ts';
import { INTERACTIVE_ROLES, roleOf } from './role.ts';
import { isVisible } from './visibility.ts';

/** A parsed target. */
export type PageQuery =
  | { readonly kind: 'ref'; readonly ref: string }
  | { readonly kind: 'css'; readonly selector: string }
  | { readonly kind: 'xpath'; readonly expression: string }
  | { readonly kind: 'text'; readonly text: string; readonly isExact: boolean };

/** Controls that a text query selects instead of the text in them. */
const TEXT_CONTROLS =
  'a[href], button, summary, ' +
  '[role=button], [role=link], [role=menuitem], [role=option], [role=tab], [role=treeitem]';

/** All matching elements, in document order. Throws a SyntaxError for an invalid selector. */
export function findElements(query: PageQuery): readonly Element[] {
  if (query.kind === 'ref') {
    const element = elementOf(query.ref);
    return element === undefined ? [] : [element];
  }
  if (query.kind === 'css') return findByCss(query.selector);
  if (query.kind === 'xpath') return findByXpath(query.expression);
  return findByText(query.text, query.isExact);
}

/** The visible elements, or all if none is visible. */
export function preferVisible(found: readonly Element[]): readonly Element[] {
  if (found.length < 2) return found;
  const visible = found.filter((element) => isVisible(element));
  return visible.length > 0 ? visible : found;
}

/** Elements by CSS selector. The descendant combinator also crosses shadow roots. */
function findByCss(selector: string): readonly Element[] {
  const roots = searchRoots(document);
  const direct = roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  if (direct.length > 0 || roots.length === 1) return direct;
  const found = new Set<Element>();
  for (const alternative of splitSelector(selector, ',')) {
    const steps = splitSelector(alternative, ' ');
    const last = steps.at(-1);
    if (last === undefined || steps.length < 2) continue;
    for (const element of roots.flatMap((root) => [...root.querySelectorAll(last)])) {
      if (hasAncestors(element, steps.slice(0, -1))) found.add(element);
    }
  }
  return [...found];
}

/** Whether the ancestors of an element match these steps, from the outermost to the innermost. */
function hasAncestors(element: Element, steps: readonly string[]): boolean {
  let rest = steps.length;
  for (
    let current = composedParent(element);
    current !== null && rest > 0;
    current = composedParent(current)
  ) {
    if (matchesSelector(current, steps[rest - 1] ?? '*')) rest -= 1;
  }
  return rest === 0;
}

/** Splits a selector at commas or spaces, but not inside of brackets or quotes, or around combinators. */
function splitSelector(selector: string, separator: ',' | ' '): readonly string[] {
  const parts = [''];
  let depth = 0;
  let quote = '';
  const text = selector
    .trim()
    .replace(/\s*([>+~])\s*/g, '$1')
    .replace(/\s+/g, ' ');
  for (const character of text) {
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '[' || character === '(') depth += 1;
    else if (character === ']' || character === ')') depth -= 1;
    if (character === separator && depth === 0 && quote === '') parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Elements by XPath. The content of a shadow root counts as the last children of its host. */
function findByXpath(expression: string): readonly Element[] {
  const direct = evaluateXpath(document, expression);
  if (searchRoots(document).length === 1) return direct;
  // XPath does not support shadow roots, so it runs on a copy without them.
  const originals = new Map<Element, Element>();
  const copy = document.implementation.createHTMLDocument('');
  copy.documentElement.replaceWith(copyWithShadowRoots(document.documentElement, copy, originals));
  const found = evaluateXpath(copy, expression).flatMap((element) => originals.get(element) ?? []);
  return found.length > 0 ? found : direct;
}

/** A copy of an element with its children and those of its shadow root, for an inert document. */
function copyWithShadowRoots(
  element: Element,
  owner: Document,
  originals: Map<Element, Element>,
): Element {
  const copy = owner.importNode(element, false);
  originals.set(copy, element);
  for (const child of [
    ...propertyOf(element, 'childNodes'),
    ...(propertyOf(element, 'shadowRoot')?.childNodes ?? []),
  ]) {
    copy.append(
      child instanceof Element
        ? copyWithShadowRoots(child, owner, originals)
        : owner.importNode(child, false),
    );
  }
  return copy;
}

function evaluateXpath(start: Document, expression: string): readonly Element[] {
  const found = start.evaluate(
    expression,
    start,
    null,
    XPathResult.ORDERED_NODE_SNAPSHOT_TYPE,
    null,
  );
  return Array.from({ length: found.snapshotLength }, (_, index) =>
    found.snapshotItem(index),
  ).filter((node): node is Element => node instanceof Element);
}

/** The smallest elements with this text, or the controls that contain them. */
function findByText(text: string, isExact: boolean): readonly Element[] {
  const normalize = (each: string): string =>
    isExact ? normalizeText(each) : normalizeText(each).toLowerCase();
  const searched = normalize(text);
  const compare = (candidate: string): string => {
    const normal = normalize(candidate);
    return normal === searched ? 'whole' : !isExact && normal.includes(searched) ? 'part' : '';
  };
  const whole = new Set<Element>();
  const part = new Set<Element>();
  const visit = (element: Element): boolean => {
    if (['script', 'style', 'template', 'noscript', 'head'].includes(element.localName))
      return false;
    const isButton = matchesSelector(
      element,
      'input[type=submit], input[type=button], input[type=reset]',
    );
    const own = isButton ? (element as HTMLInputElement).value : (element.textContent ?? '');
    const match = compare(own);
    if (!isExact && match === '') return false;
    // A child with the whole text is smaller; an exact text may be spread over several children.
    const inner = [...propertyOf(element, 'children')].map((child) => visit(child));
    if (inner.includes(true)) return true;
    if (match === '') return false;
    const control = composedClosest(element, TEXT_CONTROLS);
    (match === 'whole' ? whole : part).add(control ?? element);
    return true;
  };
  const roots = searchRoots(document);
  for (const root of roots) for (const child of root.children) visit(child);
  if (whole.size > 0) return [...whole];
  if (part.size > 0) return [...part];
  return findByName(roots, (name) => compare(name) === 'whole');
}

/** Controls whose accessible name matches, such as a button with only an icon. */
function findByName(
  roots: readonly ParentNode[],
  matches: (name: string) => boolean,
): readonly Element[] {
  return roots
    .flatMap((root) => [
      ...root.querySelectorAll('[aria-label], [title], [alt], input, textarea, select'),
    ])
    .filter((element) => {
      const role = roleOf(element);
      return INTERACTIVE_ROLES.includes(role) && matches(accessibleName(element, role));
    });
}
