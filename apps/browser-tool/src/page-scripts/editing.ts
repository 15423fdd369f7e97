import { contentText } from './accessible-name.ts';
import { elementOf, reportElement } from './element-refs.ts';
import { normalizeText } from './page-text.ts';

/** How text gets into an element: by the keyboard, or because the page is told so. */
export type EditingKind = 'keyboard' | 'done';

export interface EditingRequest {
  readonly ref: string;
  readonly text: string;
  readonly clear: boolean;
}

export type EditingStart =
  | { readonly ok: false; readonly why: 'stale' }
  | {
      readonly ok: false;
      readonly why: 'no-option' | 'disabled-option';
      readonly options: readonly string[];
    }
  | {
      readonly ok: false;
      readonly why: 'bad-value';
      /** What the field takes. */
      readonly expected: string;
      /** What it holds, as before. */
      readonly value: string;
    }
  | { readonly ok: true; readonly kind: EditingKind; readonly isFocused: boolean };

/** Focuses a field and selects what typing shall replace. Fields without a caret get their value at once. */
export function startEditing({ ref, text, clear }: EditingRequest): EditingStart {
  const element = elementOf(ref);
  if (element === undefined) return { ok: false, why: 'stale' };
  if (element.localName === 'select') return chooseOption(element as HTMLSelectElement, text);
  const field = element as HTMLInputElement;
  const expected = element.localName === 'input' ? expectedFormat(field, text, clear) : undefined;
  if (expected !== undefined) return { ok: false, why: 'bad-value', expected, value: field.value };
  field.focus({ preventScroll: true });
  const isFocused =
    (element.getRootNode() as Document).activeElement === element && document.hasFocus();
  if (element.localName === 'input' && hasNoCaret(field)) {
    setValue(field, text.trim());
    return { ok: true, kind: 'done', isFocused };
  }
  if (element.localName === 'input' || element.localName === 'textarea') placeCaret(field, clear);
  else selectContent(element, clear);
  return { ok: true, kind: 'keyboard', isFocused };
}

/** What each type of field takes, where the browser throws other texts away or puts something else in their place. */
export const FIELD_FORMATS: Readonly<Record<string, string>> = {
  color: 'a colour such as #1a2b3c',
  date: 'a date such as 2026-12-31 (YYYY-MM-DD)',
  'datetime-local': 'a date and time such as 2026-12-31T23:59 (YYYY-MM-DDThh:mm)',
  month: 'a month such as 2026-12 (YYYY-MM)',
  number: 'a number such as -12.5',
  range: 'a number such as 50',
  time: 'a time of 24 hours such as 23:59 (hh:mm)',
  week: 'a week such as 2026-W53 (YYYY-Www)',
};

/** What a field takes instead of a text that the browser would not let it hold. */
export function expectedFormat(
  { type, value }: HTMLInputElement,
  text: string,
  clear: boolean,
): string | undefined {
  const expected = FIELD_FORMATS[type];
  if (expected === undefined || text === '') return undefined;
  // A field of our own, of the same kind, says what the browser makes of the text.
  const trial = document.createElement('input');
  // A slider always holds a number, its middle one for all that is none.
  trial.type = type === 'range' ? 'number' : type;
  const wanted = type === 'number' && !clear ? value + text : text;
  trial.value = wanted.trim();
  const isBlack = /^\s*(#000000|#000|black)\s*$/i.test(text);
  const isTaken = type === 'color' ? trial.value !== '#000000' || isBlack : trial.value !== '';
  return isTaken ? undefined : expected;
}

/** Whether the browser shows a picker for it rather than a caret. */
export function hasNoCaret(field: HTMLInputElement): boolean {
  return ['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week'].includes(field.type);
}

export function setValue(field: HTMLInputElement | HTMLSelectElement, value: string): void {
  field.value = value;
  dispatchChange(field);
}

export function dispatchChange(field: Element): void {
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

export function placeCaret(field: HTMLInputElement, clear: boolean): void {
  if (clear) {
    field.select();
    return;
  }
  const { value } = field;
  if (field.selectionStart !== null) {
    field.setSelectionRange(value.length, value.length);
    return;
  }
  // Some types, such as email, do not let scripts move their caret, but a new value moves it to the end.
  field.value = '';
  field.value = value;
}

export function selectContent(element: Element, clear: boolean): void {
  const selection = getSelection();
  if (selection === null) return;
  selection.selectAllChildren(element);
  if (!clear) selection.collapseToEnd();
}

/** Chooses an option by its text or its value. */
export function chooseOption(select: HTMLSelectElement, text: string): EditingStart {
  const options = [...select.options];
  const enabled = options.filter((each) => !each.matches(':disabled'));
  const option = findOption(enabled, text);
  if (option === undefined) {
    const isDisabled = findOption(options, text) !== undefined;
    return {
      ok: false,
      why: isDisabled ? 'disabled-option' : 'no-option',
      options: (isDisabled ? enabled : options).map((each) => normalizeText(each.text)),
    };
  }
  selectOption(option, select);
  return { ok: true, kind: 'done', isFocused: true };
}

export function findOption(
  options: readonly HTMLOptionElement[],
  text: string,
): HTMLOptionElement | undefined {
  const wanted = normalizeText(text);
  return (
    options.find((each) => normalizeText(each.text) === wanted) ??
    options.find((each) => each.value === text) ??
    options.find((each) => normalizeText(each.text).toLowerCase() === wanted.toLowerCase())
  );
}

export function selectOption(option: HTMLOptionElement, select: HTMLSelectElement): void {
  select.focus({ preventScroll: true });
  if (select.multiple) option.selected = !option.selected;
  else select.value = option.value;
  option.selected = select.multiple ? option.selected : true;
  dispatchChange(select);
}

/** Takes an option of a closed select, which no click could reach; false for every other element. */
export function clickOption({ ref }: { readonly ref: string }): boolean {
  const element = elementOf(ref);
  const select = element?.localName === 'option' ? element.closest('select') : null;
  if (element === undefined || select === null) return false;
  selectOption(element as HTMLOptionElement, select);
  return true;
}

/** What a field holds after typing; bullets for a password. */
export function readField({ ref }: { readonly ref: string }): string {
  const element = elementOf(ref);
  if (element === undefined) return '';
  if (element.localName === 'select') {
    return normalizeText((element as HTMLSelectElement).selectedOptions[0]?.text);
  }
  if (element.localName !== 'input' && element.localName !== 'textarea')
    return contentText(element);
  const { type, value } = element as HTMLInputElement;
  return type === 'password' ? '•••' : value;
}

/** Focuses an element for keys; false once it is gone. */
export function focusElement({ ref }: { readonly ref: string }): boolean {
  const element = elementOf(ref);
  if (element === undefined) return false;
  (element as HTMLElement).focus({ preventScroll: true });
  return true;
}

/** What has the focus now. */
export function focusedElement(): ReturnType<typeof reportElement> | undefined {
  let focused = document.activeElement;
  for (;;) {
    const inner = focused?.shadowRoot?.activeElement ?? null;
    if (inner === null) break;
    focused = inner;
  }
  return focused === null || focused === document.body ? undefined : reportElement(focused);
}
