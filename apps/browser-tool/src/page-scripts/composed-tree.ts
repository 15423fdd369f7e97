// The tree as it is shown: shadow roots in the place of their hosts' children, assigned nodes in the place of slots.

/** The parent in the composed tree, out of shadow roots too. */
export function composedParent(node: Node): Element | null {
  const parent = (node as Element).assignedSlot ?? node.parentNode;
  if (parent === null) return null;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** What is shown inside of an element. */
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

/** Whether the first is the second or contains it, across shadow roots. */
export function isComposedAncestor(ancestor: Element, element: Element): boolean {
  for (let current: Element | null = element; current !== null; current = composedParent(current)) {
    if (current === ancestor) return true;
  }
  return false;
}

/** The nearest element, from itself upwards, that fits a selector, across shadow roots. */
export function composedClosest(element: Element, selector: string): Element | null {
  for (let current: Element | null = element; current !== null; current = composedParent(current)) {
    if (current.matches(selector)) return current;
  }
  return null;
}
