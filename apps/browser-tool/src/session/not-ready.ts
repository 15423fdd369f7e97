import type { ElementReport } from '../engine.ts';
import { oneLine } from '../one-line.ts';
import type { NotReady } from '../injected/readiness.ts';
import { ToolError } from '../errors.ts';

/** An element in messages: `button "Save" [ref=e3]`. */
export function elementText({ role, name, ref, tag }: ElementReport): string {
  const kind = role === 'generic' || role === 'none' ? `<${tag}>` : role;
  return `${kind}${name === '' ? '' : ` "${oneLine(name)}"`} [ref=${ref}]`;
}

const EDITABLE_HINT =
  'Choose an input, a textarea, a select or an editable element that is not read-only.';

/** What to do with the types of input fields that take no text. */
const NOT_EDITABLE_HINTS: Readonly<Record<string, string>> = {
  checkbox: 'Click it to change it.',
  radio: 'Click it to choose it.',
  button: 'Click it instead.',
  submit: 'Click it instead.',
  reset: 'Click it instead.',
  file: "Give it files with browser_evaluate: this target and the function (input) => { const list = new DataTransfer(); list.items.add(new File(['content'], 'name.txt')); input.files = list.files; input.dispatchEvent(new Event('change', { bubbles: true })); }",
};

/** The error for a target that is not ready for an action. */
export function notReadyError(target: string, state: NotReady, waitedMs: number): ToolError {
  const element = state.element === undefined ? target : elementText(state.element);
  const details = {
    target,
    ...(state.element === undefined ? {} : { element: state.element }),
    ...(state.cover === undefined
      ? {}
      : { cover: { markup: state.cover.markup, ref: state.cover.ref } }),
  };
  const waited = waitedMs > 0 ? ` after waiting ${waitedMs} ms` : '';
  switch (state.why) {
    case 'covered': {
      const cover = `${oneLine(state.cover?.markup ?? 'another element')} [ref=${state.cover?.ref ?? '?'}]`;
      if (state.cover?.isAround === true) {
        return new ToolError('ELEMENT_COVERED', `Clicks on ${element} go to ${cover} around it.`, {
          hint: 'It is inert or clipped there, lets clicks through, or a pseudo-element of that one covers it. Use another element, or enable it first.',
          details,
        });
      }
      return new ToolError('ELEMENT_COVERED', `${element} is covered by ${cover}.`, {
        hint: 'Close or click that element first, or pass force:true.',
        details,
      });
    }
    case 'not-visible':
      return new ToolError('ELEMENT_NOT_VISIBLE', `${element} is not visible${waited}.`, {
        hint: 'It is hidden or has no size: make it visible first, or choose another element.',
        details,
      });
    case 'out-of-view':
      return new ToolError(
        'ELEMENT_NOT_VISIBLE',
        `${element} is outside of the viewport and cannot be scrolled into view.`,
        { hint: 'Resize the viewport, or choose another element.', details },
      );
    case 'moving':
      return new ToolError('TIMEOUT', `${element} kept moving${waited}.`, {
        hint: 'Wait until the animation ends, or pass force:true.',
        details,
      });
    case 'disabled':
      return new ToolError('ELEMENT_DISABLED', `${element} is disabled${waited}.`, {
        hint: 'Enable it first, for example by filling in required fields.',
        details,
      });
    case 'not-editable':
      return new ToolError('ELEMENT_NOT_EDITABLE', `${element} does not accept text.`, {
        hint: NOT_EDITABLE_HINTS[state.message ?? ''] ?? EDITABLE_HINT,
        details,
      });
    case 'ambiguous':
      return ambiguous(target, state);
    case 'invalid-selector':
      return new ToolError(
        'INVALID_SELECTOR',
        `${JSON.stringify(target)} is not a valid selector: ${(state.message ?? '').replace(/\.$/, '')}.`,
        {
          hint: 'Use a ref such as e12, a CSS selector, text=…, or xpath=….',
          details: { target },
        },
      );
    case 'stale':
      return new ToolError('STALE_REF', `${target} is no longer in the page.`, {
        hint: 'Call browser_snapshot for fresh refs.',
        details: { target },
      });
    case 'not-found':
      return new ToolError(
        'ELEMENT_NOT_FOUND',
        `No element matches ${JSON.stringify(target)}${waited}.`,
        {
          hint: 'Call browser_snapshot to see what is on the page.',
          details: { target },
        },
      );
  }
}

/** A click that did not arrive at its element. */
export interface MissedClick {
  readonly element: ElementReport;
  /** The element that was in its place. */
  readonly otherMarkup: string | undefined;
}

/** The error for a click that did not arrive at its element. */
export function missedClickError(
  { target, timeoutMs }: { readonly target: string; readonly timeoutMs: number },
  { element, otherMarkup }: MissedClick,
): ToolError {
  const why = otherMarkup === undefined ? '' : `: ${otherMarkup} was in its place`;
  return new ToolError(
    'TIMEOUT',
    `${elementText(element)} did not receive the click within ${timeoutMs} ms${why}.`,
    {
      hint: 'Call browser_snapshot to see how the page changed, or pass force:true.',
      details: { target, element },
    },
  );
}

/** The error for a key that is meant for an element that keys cannot reach. */
export function notFocusedError(target: string, element: ElementReport): ToolError {
  return new ToolError(
    'INVALID_ARGUMENT',
    `${elementText(element)} cannot have the keyboard focus.`,
    {
      hint: 'Choose a field, a button or a link, or leave the target out to press the key where the focus is.',
      details: { field: 'target', target, element },
    },
  );
}

function ambiguous(target: string, { candidates = [], count = 0 }: NotReady): ToolError {
  const listed = candidates.map(elementText).join(', ');
  const rest = count > candidates.length ? ` and ${count - candidates.length} more` : '';
  return new ToolError(
    'AMBIGUOUS_TARGET',
    `${JSON.stringify(target)} matches ${count} elements: ${listed}${rest}.`,
    {
      hint: 'Use one of these refs, or a narrower selector.',
      details: { target, count, candidates },
    },
  );
}
