import { composedChildren } from './composed-tree.ts';

/** Whether it has a size and is not hidden by style. */
export function isVisible(element: Element): boolean {
  const style = getComputedStyle(element);
  if (style.visibility !== 'visible') return false;
  if (style.display === 'contents') {
    return composedChildren(element).some((child) =>
      child instanceof Element ? isVisible(child) : hasTextBox(child),
    );
  }
  if (!element.checkVisibility()) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0;
}

/** Whether a text node has a size. */
function hasTextBox(node: Node): boolean {
  if (node.nodeType !== Node.TEXT_NODE) return false;
  const range = document.createRange();
  range.selectNode(node);
  const { width, height } = range.getBoundingClientRect();
  return width > 0 && height > 0;
}

/** Whether an element and its content are hidden, both on the screen and from screen readers. */
export function isHidden(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.display === 'none' || element.hasAttribute('inert')) return true;
  if (element.getAttribute('aria-hidden') === 'true') return true;
  // The options of a closed select have no box, but can be chosen.
  if (element.localName === 'option' || element.localName === 'optgroup') return false;
  // An element without a box of its own may have children that are shown.
  return style.display !== 'contents' && !element.checkVisibility();
}

/** Whether an element is shown without the text in it. What is an element there is hidden itself. */
export function hidesText(element: Element | null, style: CSSStyleDeclaration): boolean {
  if (style.contentVisibility === 'hidden') return true;
  return element?.localName === 'details' && !element.hasAttribute('open');
}
