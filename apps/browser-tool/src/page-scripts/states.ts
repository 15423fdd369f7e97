import { contentText, referredText } from './accessible-name.ts';
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
  if (element.matches('[required], [aria-required=true]')) states.push('required');
  if (element.matches('input[readonly], textarea[readonly], [aria-readonly=true]'))
    states.push('readonly');
  if (aria('invalid') !== null && aria('invalid') !== 'false') states.push('invalid');
  if (isFocused(element)) states.push('active');
  if (role === 'heading')
    states.push(`level=${clipText(aria('level') ?? element.localName.slice(1), 50)}`);
  return states;
}

export function checkedState(element: Element): 'checked' | 'mixed' | undefined {
  if (element.matches('input[type=checkbox], input[type=radio]')) {
    const input = element as HTMLInputElement;
    if (input.indeterminate) return 'mixed';
    return input.checked ? 'checked' : undefined;
  }
  const checked = element.getAttribute('aria-checked');
  if (checked === 'mixed') return 'mixed';
  return checked === 'true' ? 'checked' : undefined;
}

export function expandedState(element: Element): 'expanded' | 'collapsed' | undefined {
  const expanded = element.getAttribute('aria-expanded');
  if (expanded === 'true') return 'expanded';
  if (expanded === 'false') return 'collapsed';
  if (element.localName !== 'summary') return undefined;
  return (element.parentElement as HTMLDetailsElement | null)?.open === true
    ? 'expanded'
    : 'collapsed';
}

export function isSelectedOption(element: Element): boolean {
  return element.localName === 'option' && (element as HTMLOptionElement).selected;
}

export function isFocused(element: Element): boolean {
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
