// What runs inside of pages in the place of a mouse and a keyboard, for engines that have none to offer. Each function is sent as its
// own source text, so it uses nothing but the page's own globals and what it is given.

/** What the tool keeps in a document: the agent, and what happened meanwhile. */
export interface PageState {
  readonly id: string;
  readonly scripts: {
    callScript(
      method: string,
      parameters: object,
      next: number,
    ): Promise<{ value: unknown; next: number }>;
    elementOf(ref: string): Element | undefined;
  };
  readonly dialogs: Array<{ type: string; message: string; action: string }>;
  /** How the next dialogs are answered. */
  answer: { readonly accept: boolean | undefined; readonly promptText: string | undefined };
  /** Edits where the caret is, as if typed: with the events that typing causes. */
  edit(command: 'delete' | 'forwardDelete' | 'insertText' | 'selectAll', text?: string): boolean;
  /** Whether the document was asked to make way for another one. */
  isUnloading: boolean;
}

/** Makes the state of a document. Its dialogs are answered at once, because here nobody could; unless the engine does so itself. */
export function createPageState(scripts: PageState['scripts'], handlesDialogs: boolean): PageState {
  const state: PageState = {
    id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`,
    scripts,
    dialogs: [],
    answer: { accept: undefined, promptText: undefined },
    isUnloading: false,
    // oxlint-disable-next-line no-deprecated -- There is no other way by which the page notices.
    edit: (command, text) => document.execCommand(command, false, text),
  };
  addEventListener('beforeunload', () => {
    state.isUnloading = true;
  });
  if (!handlesDialogs) return state;
  const note = (type: string, message: unknown, isAccepted: boolean): void => {
    const action = isAccepted ? 'accepted' : 'dismissed';
    const text = typeof message === 'string' ? message : (JSON.stringify(message) ?? '');
    state.dialogs.push({ type, message: text.slice(0, 2_000), action });
  };
  window.alert = (message?: unknown) => note('alert', message, true);
  window.confirm = (message?: string) => {
    const isAccepted = state.answer.accept === true;
    note('confirm', message, isAccepted);
    return isAccepted;
  };
  window.prompt = (message?: string, preset?: string) => {
    const isAccepted = state.answer.accept === true;
    note('prompt', message, isAccepted);
    return isAccepted ? (state.answer.promptText ?? preset ?? '') : null;
  };
  return state;
}

export interface ClickParameters {
  readonly x: number;
  readonly y: number;
  readonly button: 'left' | 'middle' | 'right';
  readonly double: boolean;
  readonly modifiers: readonly string[];
}

/** Clicks with the events that a mouse would cause, in their order. */
export function clickElement(element: Element, parameters: ClickParameters): void {
  const { x, y, button, double, modifiers } = parameters;
  const number = { left: 0, middle: 1, right: 2 }[button];
  const send = (type: string, detail: number, buttons: number): boolean => {
    const facts = {
      bubbles: true,
      cancelable: true,
      composed: true,
      view: window,
      detail,
      clientX: x,
      clientY: y,
      button: number,
      buttons,
      altKey: modifiers.includes('Alt'),
      ctrlKey: modifiers.includes('Control') || modifiers.includes('ControlOrMeta'),
      metaKey: modifiers.includes('Meta'),
      shiftKey: modifiers.includes('Shift'),
    };
    const isPointer = type.startsWith('pointer');
    return element.dispatchEvent(
      isPointer
        ? new PointerEvent(type, { ...facts, pointerId: 1, isPrimary: true, pointerType: 'mouse' })
        : new MouseEvent(type, facts),
    );
  };
  for (const type of ['pointerover', 'mouseover', 'pointermove', 'mousemove']) send(type, 0, 0);
  for (let round = 1; round <= (double ? 2 : 1); round += 1) {
    send('pointerdown', round, 1 << (number === 0 ? 0 : number === 2 ? 1 : 2));
    const mayFocus = send('mousedown', round, 1 << (number === 0 ? 0 : number === 2 ? 1 : 2));
    const focusable = element.closest(
      'a[href], button, input, select, textarea, [tabindex], [contenteditable]',
    );
    if (mayFocus && focusable instanceof HTMLElement) focusable.focus({ preventScroll: true });
    send('pointerup', round, 0);
    send('mouseup', round, 0);
    // Only this one has the consequences that the browser itself adds, such as following a link.
    send(button === 'left' ? 'click' : button === 'right' ? 'contextmenu' : 'auxclick', round, 0);
  }
  if (double) send('dblclick', 2, 0);
}

/** Puts text where the caret is, in the place of what is selected, with the events that typing causes. */
export function insertText(state: PageState, text: string): void {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (text === '') {
    state.edit('delete');
    return;
  }
  if (state.edit('insertText', text)) return;
  if (focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement) {
    focused.setRangeText(
      text,
      focused.selectionStart ?? 0,
      focused.selectionEnd ?? focused.value.length,
      'end',
    );
    focused.dispatchEvent(
      new InputEvent('input', {
        bubbles: true,
        composed: true,
        data: text,
        inputType: 'insertText',
      }),
    );
  }
}

export interface KeyParameters {
  readonly key: string;
  readonly code: string;
  readonly modifiers: readonly string[];
}

/** Presses a key on what has the focus, and does what browsers do for the keys that matter most. */
export function pressKey(state: PageState, { key, code, modifiers }: KeyParameters): void {
  let focused: Element = document.activeElement ?? document.body;
  while (focused.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  const isCommand = modifiers.includes('Control') || modifiers.includes('Meta');
  const send = (type: string): boolean =>
    focused.dispatchEvent(
      new KeyboardEvent(type, {
        key,
        code,
        bubbles: true,
        cancelable: true,
        composed: true,
        altKey: modifiers.includes('Alt'),
        ctrlKey: modifiers.includes('Control'),
        metaKey: modifiers.includes('Meta'),
        shiftKey: modifiers.includes('Shift'),
      }),
    );
  const actions: Record<string, () => void> = {
    Enter: () => {
      if (focused instanceof HTMLTextAreaElement) state.edit('insertText', '\n');
      else if (focused instanceof HTMLInputElement) submitForm(focused);
      else if (focused instanceof HTMLElement && focused.matches('a[href], button, summary'))
        focused.click();
    },
    ' ': () => {
      if (
        focused instanceof HTMLElement &&
        focused.matches('button, summary, input[type=checkbox], input[type=radio]')
      )
        focused.click();
      else state.edit('insertText', ' ');
    },
    Backspace: () => state.edit('delete'),
    Delete: () => state.edit('forwardDelete'),
    Escape: () => document.querySelector('dialog:modal')?.dispatchEvent(new Event('cancel')),
    PageDown: () => scrollBy({ top: innerHeight, behavior: 'instant' }),
    PageUp: () => scrollBy({ top: -innerHeight, behavior: 'instant' }),
  };
  const submitForm = (field: HTMLInputElement): void => {
    field.dispatchEvent(new Event('change', { bubbles: true }));
    field.form?.requestSubmit(
      field.form.querySelector<HTMLButtonElement>('[type=submit], button:not([type])'),
    );
  };
  if (send('keydown')) {
    if (key.length === 1 || key === 'Enter') send('keypress');
    if (isCommand && key.toLowerCase() === 'a') state.edit('selectAll');
    else if (actions[key] !== undefined) actions[key]();
    else if (key.length === 1 && !isCommand) state.edit('insertText', key);
  }
  send('keyup');
}
