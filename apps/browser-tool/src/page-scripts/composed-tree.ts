// The tree as it is shown: shadow roots replace the children of their hosts, assigned nodes replace slots.

/** The parent in the composed tree, across shadow roots. */
export function composedParent(node: Node): Element | null {
  const parent = (node as Element).assignedSlot ?? node.parentNode;
  if (parent === null) return null;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** The children of an element in the composed tree. */
export function composedChildren(element: Element): readonly Node[] {
  if (element.shadowRoot !== null) return [...element.shadowRoot.childNodes];
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return [...element.childNodes];
}

/** The document and every open shadow root in it, in document order. */
export function searchRoots(start: ParentNode): readonly ParentNode[] {
  const roots: ParentNode[] = [start];
  for (const element of start.querySelectorAll('*')) {
    if (element.shadowRoot !== null) roots.push(...searchRoots(element.shadowRoot));
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
    if (current.matches(selector)) return current;
  }
  return null;
}
