import { matchesSelector, propertyOf } from './composed-tree.ts';

/** Roles of interactive elements. */
export const INTERACTIVE_ROLES: readonly string[] = [
  'button',
  'checkbox',
  'combobox',
  'gridcell',
  'link',
  'listbox',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'scrollbar',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
];

/** The default roles of elements. */
const TAG_ROLES: Readonly<Record<string, string>> = {
  article: 'article',
  aside: 'complementary',
  audio: 'audio',
  blockquote: 'blockquote',
  button: 'button',
  canvas: 'canvas',
  caption: 'caption',
  code: 'code',
  datalist: 'listbox',
  dd: 'definition',
  details: 'group',
  dfn: 'term',
  dialog: 'dialog',
  dt: 'term',
  embed: 'embed',
  fieldset: 'group',
  figure: 'figure',
  frame: 'iframe',
  hr: 'separator',
  html: 'document',
  iframe: 'iframe',
  li: 'listitem',
  main: 'main',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  object: 'embed',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  search: 'search',
  summary: 'button',
  table: 'table',
  tbody: 'rowgroup',
  textarea: 'textbox',
  tfoot: 'rowgroup',
  thead: 'rowgroup',
  tr: 'row',
  ul: 'list',
  video: 'video',
};

/** The roles of inputs by their type; every other type is a text field. */
const INPUT_ROLES: Readonly<Record<string, string>> = {
  button: 'button',
  checkbox: 'checkbox',
  color: 'textbox',
  file: 'button',
  hidden: 'none',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
};

/** The ARIA role of an element; `generic` if it has none. */
export function roleOf(element: Element): string {
  const given = (element.getAttribute('role') ?? '').trim().split(/\s+/)[0] ?? '';
  // Every role is one word. Anything else could imitate a ref.
  const own = /^[a-z-]{1,50}$/i.test(given) ? given.toLowerCase() : '';
  if (own === 'presentation' || own === 'none')
    return isFocusable(element) ? tagRole(element) : 'none';
  return own === '' ? tagRole(element) : own;
}

/** The role of an element by its tag. */
function tagRole(element: Element): string {
  const tag = element.localName;
  if (/^h[1-6]$/.test(tag)) return 'heading';
  if (tag === 'input') return inputRole(element);
  if (tag === 'a' || tag === 'area') return element.hasAttribute('href') ? 'link' : 'generic';
  if (tag === 'select') return isListBox(element) ? 'listbox' : 'combobox';
  if (tag === 'img') return element.getAttribute('alt') === '' ? 'none' : 'img';
  if (tag === 'svg') return 'img';
  if (tag === 'header' || tag === 'footer') return landmarkRole(element);
  if (tag === 'section' || tag === 'form') return namedRole(element);
  if (tag === 'td') return 'cell';
  if (tag === 'th') return element.getAttribute('scope') === 'row' ? 'rowheader' : 'columnheader';
  if (isEditingHost(element)) return 'textbox';
  return TAG_ROLES[tag] ?? 'generic';
}

/** The role of an input by its type. */
function inputRole(element: Element): string {
  const type = (element.getAttribute('type') ?? 'text').toLowerCase();
  const role = INPUT_ROLES[type] ?? 'textbox';
  const suggests = element.hasAttribute('list') && (role === 'textbox' || role === 'searchbox');
  return suggests ? 'combobox' : role;
}

/** Headers and footers are landmarks of the page, not of its sections. */
function landmarkRole(element: Element): string {
  if (element.closest('article, aside, main, nav, section') !== null) return 'generic';
  return element.localName === 'header' ? 'banner' : 'contentinfo';
}

/** Sections and forms are landmarks only if they have a name. */
function namedRole(element: Element): string {
  const named = ['aria-label', 'aria-labelledby', 'title'].some((name) =>
    element.hasAttribute(name),
  );
  if (!named) return 'generic';
  return element.localName === 'form' ? 'form' : 'region';
}

/** Whether a select shows its options in the page. */
export function isListBox(element: Element): boolean {
  return element.hasAttribute('multiple') || Number(element.getAttribute('size') ?? 1) > 1;
}

/** Whether it is the root of editable content. */
export function isEditingHost(element: Element): boolean {
  const value = element.getAttribute('contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

/** Whether the keyboard can reach it. */
export function isFocusable(element: Element): boolean {
  if (element.hasAttribute('tabindex')) return Number(element.getAttribute('tabindex')) >= 0;
  if (isEditingHost(element)) return true;
  const tag = element.localName;
  if (tag === 'a' || tag === 'area') return element.hasAttribute('href');
  if (tag === 'summary') return element.parentElement?.localName === 'details';
  if (tag === 'input') return element.getAttribute('type') !== 'hidden';
  return ['button', 'select', 'textarea', 'iframe'].includes(tag);
}

/** Whether it or a group around it is disabled. */
export function isDisabled(element: Element): boolean {
  if (matchesSelector(element, ':disabled')) return true;
  for (
    let current: Element | null = element;
    current !== null;
    current = propertyOf(current, 'parentElement')
  ) {
    if (current.getAttribute('aria-disabled') === 'true') return true;
  }
  return false;
}
