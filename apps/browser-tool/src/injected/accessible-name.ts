import { composedChildren } from './composed-tree.ts';
import { clipText, normalizeText } from './page-text.ts';
import { roleOf } from './role.ts';
import { isHidden } from './visibility.ts';

const NAME_CHARS_MAX = 1_000;

/** Roles that are named by their content. */
export const NAMED_BY_CONTENT: readonly string[] = [
  'button',
  'checkbox',
  'heading',
  'link',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'switch',
  'tab',
  'tooltip',
  'treeitem',
];

/** The accessible name of an element. */
export function accessibleName(element: Element, role: string): string {
  const referred = referredText(element, 'aria-labelledby');
  if (referred !== '') return referred;
  const label = normalizeText(element.getAttribute('aria-label'));
  if (label !== '') return clipText(label, NAME_CHARS_MAX);
  const native = nativeName(element);
  if (native !== '') return clipText(native, NAME_CHARS_MAX);
  if (NAMED_BY_CONTENT.includes(role) && element.localName !== 'input') {
    const content = contentText(element);
    if (content !== '') return clipText(content, NAME_CHARS_MAX);
  }
  const title = normalizeText(element.getAttribute('title'));
  const name = title === '' ? normalizeText(element.getAttribute('placeholder')) : title;
  return clipText(name, NAME_CHARS_MAX);
}

/** The texts of the elements that an attribute such as `aria-labelledby` refers to. */
export function referredText(element: Element, attribute: string): string {
  const ids = normalizeText(element.getAttribute(attribute)).split(' ');
  const root = element.getRootNode() as Document | ShadowRoot;
  const texts = ids
    .filter((id) => id !== '')
    .map((id) => root.getElementById(id))
    .flatMap((found) => (found === null ? [] : [referencedName(found)]));
  return clipText(normalizeText(texts.join(' ')), NAME_CHARS_MAX);
}

/** The name of an element that another one refers to, even if it is hidden. */
function referencedName(element: Element): string {
  const label = normalizeText(element.getAttribute('aria-label'));
  if (label !== '') return label;
  return nativeName(element) || contentText(element) || normalizeText(element.textContent);
}

/** The name of an element by HTML rules, such as its label. */
function nativeName(element: Element): string {
  const tag = element.localName;
  const type = (element.getAttribute('type') ?? '').toLowerCase();
  if (tag === 'input' && ['button', 'submit', 'reset'].includes(type)) {
    const value = normalizeText((element as HTMLInputElement).value);
    if (value !== '') return value;
    return type === 'button' ? labelsText(element) : type === 'submit' ? 'Submit' : 'Reset';
  }
  if (tag === 'img' || tag === 'area' || (tag === 'input' && type === 'image')) {
    return normalizeText(element.getAttribute('alt'));
  }
  if (['input', 'select', 'textarea', 'meter', 'output', 'progress'].includes(tag)) {
    return labelsText(element);
  }
  const naming =
    element instanceof SVGElement
      ? 'title'
      : { fieldset: 'legend', table: 'caption', figure: 'figcaption' }[tag];
  const child = naming === undefined ? null : element.querySelector(`:scope > ${naming}`);
  return child === null ? '' : normalizeText(child.textContent);
}

/** The text of the labels of a form control. */
function labelsText(element: Element): string {
  const labels = (element as HTMLInputElement).labels;
  if (labels === null || labels === undefined) return '';
  return normalizeText([...labels].map((label) => contentText(label, element)).join(' '));
}

/** The text inside of an element without hidden parts, with the names of images, and with spaces between blocks. */
export function contentText(element: Element, excluded?: Element): string {
  const pieces: string[] = [];
  const visit = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) {
      pieces.push(node.nodeValue ?? '');
      return;
    }
    if (!(node instanceof Element) || node === excluded) return;
    if (['script', 'style', 'template', 'noscript'].includes(node.localName)) return;
    if (node.localName === 'br') {
      pieces.push(' ');
      return;
    }
    const style = getComputedStyle(node);
    if (node !== element && isHidden(node, style)) return;
    const apart = style.display.startsWith('inline') || style.display === 'contents' ? '' : ' ';
    pieces.push(apart);
    const own = node === element ? '' : replacedText(node);
    if (own === '') for (const child of composedChildren(node)) visit(child);
    else pieces.push(own);
    pieces.push(apart);
  };
  visit(element);
  return normalizeText(pieces.join(''));
}

/** The text that replaces an element inside of a longer text: its label, its alternative text, or the value of a field. */
function replacedText(element: Element): string {
  const label = normalizeText(element.getAttribute('aria-label'));
  if (label !== '') return ` ${label} `;
  const tag = element.localName;
  if (tag === 'img' || tag === 'svg') return ` ${nativeName(element)} `;
  if (tag === 'select') {
    const chosen = (element as HTMLSelectElement).selectedOptions[0];
    return ` ${normalizeText(chosen?.textContent)} `;
  }
  const isSecret = (element as HTMLInputElement).type === 'password';
  if (tag === 'textarea' || (tag === 'input' && roleOf(element) === 'textbox' && !isSecret)) {
    return ` ${(element as HTMLInputElement).value} `;
  }
  return '';
}
