import { contentText } from './accessible-name.ts';
import { isComposedAncestor } from './composed-tree.ts';
import { elementOf, reportElement } from './element-refs.ts';
import { clipText, normalizeText, tagMarkup } from './page-text.ts';

/** How text is entered: by the keyboard, or already done by setting the value. */
type EditingKind = 'keyboard' | 'done';

interface EditingRequest {
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
      /** The expected format. */
      readonly expected: string;
      /** Its unchanged value. */
      readonly value: string;
    }
  | {
      readonly ok: true;
      readonly kind: EditingKind;
      /** Whether keys go to it now. */
      readonly isFocused: boolean;
      /** The element of the document that keys would go to instead. */
      readonly focusedMarkup?: string | undefined;
    };

/** Focuses a field and selects the text to replace. Sets the value of fields without a caret. */
export function startEditing({ ref, text, clear }: EditingRequest): EditingStart {
  const element = elementOf(ref);
  if (element === undefined) return { ok: false, why: 'stale' };
  if (element.localName === 'select') {
    return chooseOption(element as HTMLSelectElement, text, clear);
  }
  const field = element as HTMLInputElement;
  const expected = element.localName === 'input' ? expectedFormat(field, text, clear) : undefined;
  if (expected !== undefined) return { ok: false, why: 'bad-value', expected, value: field.value };
  field.focus({ preventScroll: true });
  const focused = (element.getRootNode() as Document).activeElement;
  const isActive = focused === element || (focused !== null && isEditedBy(focused, element));
  const isFocused = isActive && document.hasFocus();
  if (element.localName === 'input' && hasNoCaret(field)) {
    setValue(field, text.trim());
    return { ok: true, kind: 'done', isFocused };
  }
  if (element.localName === 'input' || element.localName === 'textarea') placeCaret(field, clear);
  else selectContent(element, clear);
  const focusedMarkup = isActive || focused === null ? undefined : tagMarkup(focused);
  return { ok: true, kind: 'keyboard', isFocused, focusedMarkup };
}

/** Whether typing into the focused element edits an element inside of it. */
function isEditedBy(focused: Element, element: Element): boolean {
  return (element as HTMLElement).isContentEditable && focused.contains(element);
}

/** The formats of the field types for which the browser discards or replaces other texts. */
const FIELD_FORMATS: Readonly<Record<string, string>> = {
  color: 'a color such as #1a2b3c',
  date: 'a date such as 2026-12-31 (YYYY-MM-DD)',
  'datetime-local': 'a date and time such as 2026-12-31T23:59 (YYYY-MM-DDThh:mm)',
  month: 'a month such as 2026-12 (YYYY-MM)',
  number: 'a number such as -12.5',
  range: 'a number such as 50',
  time: 'a 24-hour time such as 23:59 (hh:mm)',
  week: 'a week such as 2026-W53 (YYYY-Www)',
};

/** The expected format of a field if the browser would not accept a text. */
function expectedFormat(
  { type, value }: HTMLInputElement,
  text: string,
  clear: boolean,
): string | undefined {
  const expected = FIELD_FORMATS[type];
  if (expected === undefined || text === '') return undefined;
  // A temporary field of the same type shows what the browser does with the text.
  const trial = document.createElement('input');
  // A slider turns invalid texts into its middle value.
  trial.type = type === 'range' ? 'number' : type;
  const typed = type === 'number' && !clear ? value + text : text;
  trial.value = typed.trim();
  const isBlack = /^\s*(#000000|#000|black)\s*$/i.test(text);
  const isAccepted = type === 'color' ? trial.value !== '#000000' || isBlack : trial.value !== '';
  return isAccepted ? undefined : expected;
}

/** Whether the browser shows a picker instead of a caret. */
function hasNoCaret(field: HTMLInputElement): boolean {
  return ['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week'].includes(field.type);
}

function setValue(field: HTMLInputElement | HTMLSelectElement, value: string): void {
  field.value = value;
  dispatchChange(field);
}

function dispatchChange(field: Element): void {
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

function placeCaret(field: HTMLInputElement, clear: boolean): void {
  if (clear) {
    field.select();
    return;
  }
  const { value } = field;
  if (field.selectionStart !== null) {
    field.setSelectionRange(value.length, value.length);
    return;
  }
  // Scripts cannot move the caret of some types, such as email, but setting the value moves it to the end.
  field.value = '';
  field.value = value;
}

function selectContent(element: Element, clear: boolean): void {
  const selection = getSelection();
  if (selection === null) return;
  selection.selectAllChildren(element);
  if (!clear) selection.collapseToEnd();
}

/** Chooses an option by its text or its value; where several can be chosen, in addition to the others unless they are cleared. */
function chooseOption(select: HTMLSelectElement, text: string, clear: boolean): EditingStart {
  const options = [...select.options];
  const enabled = options.filter((each) => !each.matches(':disabled'));
  const option = findOption(enabled, text);
  if (option === undefined) {
    const isDisabled = findOption(options, text) !== undefined;
    return {
      ok: false,
      why: isDisabled ? 'disabled-option' : 'no-option',
      options: (isDisabled ? enabled : options).map((each) =>
        clipText(normalizeText(each.text), 200),
      ),
    };
  }
  if (select.multiple && clear) for (const other of options) other.selected = other === option;
  selectOption(option, select);
  return { ok: true, kind: 'done', isFocused: true };
}

function findOption(
  options: readonly HTMLOptionElement[],
  text: string,
): HTMLOptionElement | undefined {
  const label = normalizeText(text);
  return (
    options.find((each) => normalizeText(each.text) === label) ??
    options.find((each) => each.value === text) ??
    options.find((each) => normalizeText(each.text).toLowerCase() === label.toLowerCase())
  );
}

function selectOption(option: HTMLOptionElement, select: HTMLSelectElement): void {
  select.focus({ preventScroll: true });
  if (!select.multiple) select.value = option.value;
  option.selected = true;
  dispatchChange(select);
}

/** Selects an option of a closed select, which cannot be clicked; false for any other element. */
export function clickOption({ ref }: { readonly ref: string }): boolean {
  const element = elementOf(ref);
  const select = element?.localName === 'option' ? element.closest('select') : null;
  if (element === undefined || select === null) return false;
  const option = element as HTMLOptionElement;
  if (!select.multiple || !option.selected) selectOption(option, select);
  else {
    option.selected = false;
    dispatchChange(select);
  }
  return true;
}

/** The value of a field after typing; bullets for a password. */
export function readField({ ref }: { readonly ref: string }): string {
  const element = elementOf(ref);
  if (element === undefined) return '';
  if (element.localName === 'select') {
    const chosen = [...(element as HTMLSelectElement).selectedOptions];
    return normalizeText(chosen.map(({ text }) => text).join(', '));
  }
  if (element.localName !== 'input' && element.localName !== 'textarea')
    return contentText(element);
  const { type, value } = element as HTMLInputElement;
  return type === 'password' ? '•••' : value;
}

type FocusOutcome = 'focused' | 'not-focused' | 'stale';

/** Focuses an element, and returns whether keys now go to it. */
export function focusElement({ ref }: { readonly ref: string }): FocusOutcome {
  const element = elementOf(ref);
  if (element === undefined) return 'stale';
  const isPage = element === document.body || element === document.documentElement;
  if (isPage) (document.activeElement as HTMLElement | null)?.blur();
  else (element as HTMLElement).focus({ preventScroll: true });
  const focused = activeElement() ?? document.body;
  const isFocused = isPage || isComposedAncestor(element, focused);
  return isFocused && document.hasFocus() ? 'focused' : 'not-focused';
}

/** The focused element, also inside of open shadow roots. */
function activeElement(): Element | null {
  let focused = document.activeElement;
  for (;;) {
    const inner = focused?.shadowRoot?.activeElement ?? null;
    if (inner === null) return focused;
    focused = inner;
  }
}

/** The focused element. */
export function focusedElement(): ReturnType<typeof reportElement> | undefined {
  const focused = activeElement();
  return focused === null || focused === document.body ? undefined : reportElement(focused);
}
