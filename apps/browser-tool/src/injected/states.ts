import { contentText, referredText } from './accessible-name.ts';
import { matchesSelector } from './composed-tree.ts';
import { clipText, normalizeText } from './page-text.ts';
import { isDisabled, isEditingHost } from './role.ts';

/** The states of an element, such as checked, disabled or expanded. */
export function statesOf(element: Element, role: string): string[] {
  const states: string[] = [];
  const aria = (name: string): string | null => element.getAttribute(`aria-${name}`);
  const checked = checkedState(element);
  if (checked !== undefined) states.push(checked);
  if (isDisabled(element)) states.push('disabled');
  const expanded = expandedState(element);
  if (expanded !== undefined) states.push(expanded);
  if (aria('selected') === 'true' || isSelectedOption(element)) states.push('selected');
  if (aria('pressed') === 'true') states.push('pressed');
  const current = aria('current');
  if (current !== null && current !== 'false') states.push('current');
  if (matchesSelector(element, '[required], [aria-required=true]')) states.push('required');
  if (matchesSelector(element, 'input[readonly], textarea[readonly], [aria-readonly=true]'))
    states.push('readonly');
  if (isInvalid(element)) states.push('invalid');
  if (isFocused(element)) states.push('active');
  if (role === 'heading') states.push(`level=${levelOf(element)}`);
  return states;
}

/** The level of a heading; 2 is the default of headings without a tag of their own. */
function levelOf(element: Element): number {
  const given = Number(element.getAttribute('aria-level') ?? '');
  if (Number.isInteger(given) && given > 0) return given;
  return Number(/^h([1-6])$/.exec(element.localName)?.[1] ?? 2);
}

/** Whether its content is invalid, and the page or the browser already shows that. */
function isInvalid(element: Element): boolean {
  const invalid = element.getAttribute('aria-invalid');
  if (invalid !== null) return invalid !== 'false';
  if (!matchesSelector(element, 'input, select, textarea')) return false;
  // A form marks its fields when it refuses to be sent. Not every engine knows it.
  return CSS.supports('selector(:user-invalid)') && matchesSelector(element, ':user-invalid');
}

function checkedState(element: Element): 'checked' | 'mixed' | undefined {
  if (matchesSelector(element, 'input[type=checkbox], input[type=radio]')) {
    const input = element as HTMLInputElement;
    if (input.indeterminate) return 'mixed';
    return input.checked ? 'checked' : undefined;
  }
  const checked = element.getAttribute('aria-checked');
  if (checked === 'mixed') return 'mixed';
  return checked === 'true' ? 'checked' : undefined;
}

function expandedState(element: Element): 'expanded' | 'collapsed' | undefined {
  const expanded = element.getAttribute('aria-expanded');
  if (expanded === 'true') return 'expanded';
  if (expanded === 'false') return 'collapsed';
  if (element.localName !== 'summary') return undefined;
  return (element.parentElement as HTMLDetailsElement | null)?.open === true
    ? 'expanded'
    : 'collapsed';
}

function isSelectedOption(element: Element): boolean {
  return element.localName === 'option' && (element as HTMLOptionElement).selected;
}

function isFocused(element: Element): boolean {
  const root = element.getRootNode() as Document | ShadowRoot;
  return root.activeElement === element && element !== document.body;
}

/** The value of a field; undefined for any other element, bullets for a password. */
export function valueOf(element: Element, role: string): string | undefined {
  const tag = element.localName;
  if (tag === 'select') {
    const chosen = [...(element as HTMLSelectElement).selectedOptions];
    return role === 'listbox'
      ? undefined
      : normalizeText(chosen.map(({ text }) => text).join(', '));
  }
  if (tag === 'input') {
    const { value, type } = element as HTMLInputElement;
    if (role === 'button' || type === 'checkbox' || type === 'radio') return undefined;
    if (value === '') return undefined;
    return type === 'password' ? '•••' : value;
  }
  if (tag === 'textarea') return (element as HTMLTextAreaElement).value || undefined;
  if (tag === 'meter' || tag === 'progress') return String((element as HTMLProgressElement).value);
  if (isEditingHost(element)) return contentText(element) || undefined;
  const spoken = element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow');
  return spoken === null ? undefined : normalizeText(spoken);
}

/** The accessible description of an element. */
export function descriptionOf(element: Element, name: string): string {
  const described =
    referredText(element, 'aria-describedby') ||
    normalizeText(element.getAttribute('aria-description'));
  if (described !== '') return described;
  const title = normalizeText(element.getAttribute('title'));
  return title === name ? '' : clipText(title, 300);
}
