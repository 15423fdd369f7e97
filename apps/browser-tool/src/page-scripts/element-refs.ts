import { accessibleName } from './accessible-name.ts';
import { clipText } from './page-text.ts';
import { roleOf } from './role.ts';

/** The refs of one document. They go with it, so that a ref never means an element of another one. */
export interface ElementRefs {
  /** The number of the next ref; the tool sets it before every call and reads it after. */
  next: number;
  readonly byElement: WeakMap<Element, string>;
  readonly byRef: Map<string, WeakRef<Element>>;
}

export function createElementRefs(): ElementRefs {
  return { next: 1, byElement: new WeakMap(), byRef: new Map() };
}

/** In a page: the refs of its document. */
export const elementRefs = createElementRefs();

export interface PageElementReport {
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  readonly tag: string;
}

/** The ref of an element; the same one every time. */
export function refOf(element: Element): string {
  const known = elementRefs.byElement.get(element);
  if (known !== undefined) return known;
  const ref = `e${elementRefs.next}`;
  elementRefs.next += 1;
  elementRefs.byElement.set(element, ref);
  elementRefs.byRef.set(ref, new WeakRef(element));
  return ref;
}

/** The ref that an element has got already; empty for one that has none. */
export function issuedRefOf(element: Element): string {
  return elementRefs.byElement.get(element) ?? '';
}

/** Counts on from here, unless this document is further already: a call whose answer never arrived may have issued refs. */
export function countRefsFrom(next: number): void {
  elementRefs.next = Math.max(elementRefs.next, next);
}

/** The element of a ref while it is in the document. */
export function elementOf(ref: string): Element | undefined {
  const element = elementRefs.byRef.get(ref)?.deref();
  return element?.isConnected === true ? element : undefined;
}

/** What callers are told about an element. */
export function reportElement(element: Element): PageElementReport {
  const role = roleOf(element);
  const name = clipText(accessibleName(element, role), 200);
  return { ref: refOf(element), role, name, tag: element.localName };
}
