import type { ElementReport } from '../engine.ts';
import { accessibleName } from './accessible-name.ts';
import { propertyOf } from './composed-tree.ts';
import { clipText } from './page-text.ts';
import { roleOf } from './role.ts';

// The refs of the document that this script runs in. They are removed with it, so that a ref never refers to another document.
const byElement = new WeakMap<Element, string>();
const byRef = new Map<string, WeakRef<Element>>();
/** The number of the next ref; the tool sets it before every call and reads it afterwards. */
let next = 1;

export const nextRef = (): number => next;

/** The ref of an element; always the same one. */
export function refOf(element: Element): string {
  const known = byElement.get(element);
  if (known !== undefined) return known;
  const ref = `e${next}`;
  next += 1;
  byElement.set(element, ref);
  byRef.set(ref, new WeakRef(element));
  return ref;
}

/** The existing ref of an element; empty if it has none. */
export function issuedRefOf(element: Element): string {
  return byElement.get(element) ?? '';
}

/** Continues at this number, or at a higher one if a call whose response was lost has issued refs. */
export function countRefsFrom(number: number): void {
  next = Math.max(next, number);
}

/** The element of a ref if it is in the document. */
export function elementOf(ref: string): Element | undefined {
  const element = byRef.get(ref)?.deref();
  return element !== undefined && propertyOf(element, 'isConnected') ? element : undefined;
}

/** The description of an element for callers. */
export function reportElement(element: Element): ElementReport {
  const role = roleOf(element);
  const name = clipText(accessibleName(element, role), 200);
  return { ref: refOf(element), role, name, tag: element.localName };
}
