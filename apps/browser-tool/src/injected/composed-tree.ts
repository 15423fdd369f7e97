// The tree as it is shown: shadow roots replace the children of their hosts, assigned nodes replace slots.

/** A property of an element. A form has its fields in place of its own, such as `<input name="children">`. */
export function propertyOf<Name extends keyof Element>(
  element: Element,
  name: Name,
): Element[Name] {
  return Reflect.get(Element.prototype, name, element);
}

/** Whether an element, also a form with a field named `matches`, matches a selector. */
export function matchesSelector(element: Element, selector: string): boolean {
  return Element.prototype.matches.call(element, selector);
}

/** The parent in the composed tree, across shadow roots. */
export function composedParent(element: Element): Element | null {
  const parent = propertyOf(element, 'assignedSlot') ?? propertyOf(element, 'parentNode');
  if (parent === null) return null;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** The children of an element in the composed tree. */
export function composedChildren(element: Element): readonly Node[] {
  const shadow = propertyOf(element, 'shadowRoot');
  if (shadow !== null) return [...shadow.childNodes];
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return [...propertyOf(element, 'childNodes')];
}

/** The document and every open shadow root in it, in document order. */
export function searchRoots(start: ParentNode): readonly ParentNode[] {
  const roots: ParentNode[] = [start];
  for (const element of start.querySelectorAll('*')) {
    const shadow = propertyOf(element, 'shadowRoot');
    if (shadow !== null) roots.push(...searchRoots(shadow));
  }
  return roots;
}

/** Whether the first element is or contains the second, across shadow roots. */
export function isComposedAncestor(ancestor: Element, element: Element): boolean {
  for (let current: Element | null = element; current !== null; current = composedParent(current)) {
    if (current === ancestor) return true;
  }
  return false;
}

/** The nearest ancestor, or the element itself, that matches a selector, across shadow roots. */
export function composedClosest(element: Element, selector: string): Element | null {
  for (let current: Element | null = element; current !== null; current = composedParent(current)) {
    if (matchesSelector(current, selector)) return current;
  }
  return null;
}
