import type { ElementReport } from '../engine.ts';
import { accessibleName } from './accessible-name.ts';
import { propertyOf } from './composed-tree.ts';
import { clipText } from './page-text.ts';
import { roleOf } from './role.ts';

/** The refs of one document. They are removed with it, so that a ref never refers to another document. */
interface ElementRefs {
  /** The number of the next ref; the tool sets it before every call and reads it afterwards. */
  next: number;
  readonly byElement: WeakMap<Element, string>;
  readonly byRef: Map<string, WeakRef<Element>>;
}

function createElementRefs(): ElementRefs {
  return { next: 1, byElement: new WeakMap(), byRef: new Map() };
}

/** The refs of the document that this script runs in. */
export const elementRefs = createElementRefs();

/** The ref of an element; always the same one. */
export function refOf(element: Element): string {
  const known = elementRefs.byElement.get(element);
  if (known !== undefined) return known;
  const ref = `e${elementRefs.next}`;
  elementRefs.next += 1;
  elementRefs.byElement.set(element, ref);
  elementRefs.byRef.set(ref, new WeakRef(element));
  return ref;
}

/** The existing ref of an element; empty if it has none. */
export function issuedRefOf(element: Element): string {
  return elementRefs.byElement.get(element) ?? '';
}

/** Continues at this number, or at a higher one if a call whose response was lost has issued refs. */
export function countRefsFrom(next: number): void {
  elementRefs.next = Math.max(elementRefs.next, next);
}

/** The element of a ref if it is in the document. */
export function elementOf(ref: string): Element | undefined {
  const element = elementRefs.byRef.get(ref)?.deref();
  return element !== undefined && propertyOf(element, 'isConnected') ? element : undefined;
}

/** The description of an element for callers. */
export function reportElement(element: Element): ElementReport {
  const role = roleOf(element);
  const name = clipText(accessibleName(element, role), 200);
  return { ref: refOf(element), role, name, tag: element.localName };
}
