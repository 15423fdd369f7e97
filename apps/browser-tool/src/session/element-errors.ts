import type { ElementReport } from '../engine.ts';
import { pageError, type ToolError } from '../errors.ts';
import type { EditingStart } from '../injected/editing.ts';
import type { NotReady } from '../injected/readiness.ts';
import { oneLine } from '../one-line.ts';

const OPTIONS_SHOWN_MAX = 30;
const OPTIONS_REPORTED_MAX = 200;

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
export function notReadyError(given: string, state: NotReady, waitedMs: number): ToolError {
  const { element: report, cover, candidates = [], count = 0, message = '' } = state;
  const element = report === undefined ? given : elementText(report);
  const target = JSON.stringify(given);
  const waited = waitedMs > 0 ? ` after waiting ${waitedMs} ms` : '';
  const details = {
    target: given,
    ...(report === undefined ? {} : { element: report }),
    ...(cover === undefined ? {} : { cover: { markup: cover.markup, ref: cover.ref } }),
  };
  switch (state.why) {
    case 'covered': {
      const { markup = 'another element', ref = '?', isAround = false } = cover ?? {};
      const values = { element, cover: `${oneLine(markup)} [ref=${ref}]` };
      return pageError(isAround ? 'coveredAround' : 'covered', values, details);
    }
    case 'not-visible':
      return pageError('notVisible', { element, waited }, details);
    case 'out-of-view':
      return pageError('outOfView', { element }, details);
    case 'moving':
      return pageError('moving', { element, waited }, details);
    case 'disabled':
      return pageError('disabled', { element, waited }, details);
    case 'not-editable':
      return pageError(
        'notEditable',
        { element, hint: NOT_EDITABLE_HINTS[message] ?? EDITABLE_HINT },
        details,
      );
    case 'ambiguous': {
      const rest = count > candidates.length ? ` and ${count - candidates.length} more` : '';
      const listed = `${candidates.map(elementText).join(', ')}${rest}`;
      return pageError(
        'ambiguous',
        { target, count, listed },
        { target: given, count, candidates },
      );
    }
    case 'invalid-selector':
      return pageError(
        'invalidSelector',
        { target, reason: message.replace(/\.$/, '') },
        { target: given },
      );
    case 'stale':
      return pageError('removed', { target: given }, { target: given });
    case 'not-found':
      return pageError('notFound', { target, waited }, { target: given });
  }
}

/** The error for a field that did not accept a text. */
export function editingError(
  target: string,
  report: ElementReport,
  given: string,
  failure: Extract<EditingStart, { readonly ok: false }>,
): ToolError {
  const [element, text] = [elementText(report), JSON.stringify(given)];
  switch (failure.why) {
    case 'stale':
      return pageError('removed', { target }, { target });
    case 'no-option':
    case 'disabled-option': {
      const { options: all, why } = failure;
      const rest = all.length - OPTIONS_SHOWN_MAX;
      const shown = all.slice(0, OPTIONS_SHOWN_MAX).join(', ');
      const options = rest > 0 ? `${shown} and ${rest} more` : shown;
      const reported = { options: all.slice(0, OPTIONS_REPORTED_MAX), options_count: all.length };
      return pageError(
        why === 'no-option' ? 'noOption' : 'disabledOption',
        { element, text, options },
        { target, ...reported },
      );
    }
    case 'bad-value': {
      const { expected, value } = failure;
      return pageError(
        'badValue',
        { element, text, expected, value: JSON.stringify(value) },
        { target, expected, value },
      );
    }
  }
}
