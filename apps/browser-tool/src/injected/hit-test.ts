import { composedClosest, isComposedAncestor, propertyOf } from './composed-tree.ts';

/** The element that would receive a click at this point instead; undefined if the element itself would. */
export function coverAt(
  element: Element,
  { x, y }: { readonly x: number; readonly y: number },
): Element | 'outside' | undefined {
  const hit = deepElementFromPoint(x, y);
  return hit === undefined ? 'outside' : coverOf(element, hit);
}

/** The hit element if clicks on it are not clicks on the element. */
export function coverOf(element: Element, hit: Element): Element | undefined {
  if (isComposedAncestor(element, hit)) return undefined;
  const label = composedClosest(hit, 'label');
  if (label !== null) {
    const control = (label as HTMLLabelElement).control;
    if (control !== null && isComposedAncestor(element, control)) return undefined;
    if (control === element) return undefined;
  }
  // A part that passes clicks to its own control is not covered.
  const control = composedClosest(element, 'a[href], button, label, summary, [role=button]');
  if (control !== null && control === hit) return undefined;
  return hit;
}

/** The innermost element at a point, inside of open shadow roots too. */
export function deepElementFromPoint(x: number, y: number): Element | undefined {
  let hit = document.elementFromPoint(x, y) ?? undefined;
  for (let root = hit === undefined ? null : propertyOf(hit, 'shadowRoot'); root !== null;) {
    // Slotted text belongs to the host; the element that shows it comes later in the list.
    const inner = root.elementsFromPoint(x, y).find((each) => each.getRootNode() === root);
    if (inner === undefined) break;
    hit = inner;
    root = propertyOf(inner, 'shadowRoot');
  }
  return hit;
}
