// Runs inside of pages instead of a mouse and a keyboard, for engines without these. Each function is sent as its source text, so it
// may use only the page's globals and its parameters.

/** The tool's state in a document: its scripts, and the events since the last call. */
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
  /** Edits at the caret with the same events as typing. */
  edit(command: 'delete' | 'forwardDelete' | 'insertText' | 'selectAll', text?: string): boolean;
  /** Whether the document is being unloaded. */
  isUnloading: boolean;
}

/** Creates the state of a document. Answers its dialogs at once, unless the engine does. */
export function createPageState(scripts: PageState['scripts'], handlesDialogs: boolean): PageState {
  const state: PageState = {
    id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`,
    scripts,
    dialogs: [],
    answer: { accept: undefined, promptText: undefined },
    isUnloading: false,
    // oxlint-disable-next-line no-deprecated -- Nothing else triggers the page's handlers.
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

/** Clicks with the same events, in the same order, as a mouse. */
export function clickElement(element: Element, parameters: ClickParameters): void {
  const { x, y, button, double, modifiers } = parameters;
  const number = { left: 0, middle: 1, right: 2 }[button];
  const send = (type: string, detail: number, buttons: number): boolean => {
    const init = {
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
        ? new PointerEvent(type, { ...init, pointerId: 1, isPrimary: true, pointerType: 'mouse' })
        : new MouseEvent(type, init),
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
    // Only this event triggers the browser's default action, such as following a link.
    send(button === 'left' ? 'click' : button === 'right' ? 'contextmenu' : 'auxclick', round, 0);
  }
  if (double) send('dblclick', 2, 0);
}

/** Inserts text at the caret, replacing the selection, with the same events as typing. */
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

/** Presses a key on the focused element, with the browser's default action for the most common keys. */
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
