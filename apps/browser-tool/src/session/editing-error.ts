import type { ElementReport } from '../engine.ts';
import type { EditingStart } from '../injected/editing.ts';
import { ToolError } from '../errors.ts';
import { elementText, notReadyError } from './not-ready.ts';

const OPTIONS_SHOWN_MAX = 30;
const OPTIONS_REPORTED_MAX = 200;

/** The error for a field that did not accept a text. */
export function editingError(
  target: string,
  element: ElementReport,
  text: string,
  failure: Extract<EditingStart, { readonly ok: false }>,
): ToolError {
  const quoted = JSON.stringify(text);
  switch (failure.why) {
    case 'stale':
      return notReadyError(target, { ok: false, why: 'stale' }, 0);
    case 'no-option':
      return new ToolError('INVALID_ARGUMENT', `${elementText(element)} has no option ${quoted}.`, {
        hint: `Its options: ${shownOptions(failure.options)}.`,
        details: { target, ...reportedOptions(failure.options) },
      });
    case 'disabled-option':
      return new ToolError(
        'ELEMENT_DISABLED',
        `The option ${quoted} of ${elementText(element)} is disabled.`,
        {
          hint: `Enabled options: ${shownOptions(failure.options)}.`,
          details: { target, ...reportedOptions(failure.options) },
        },
      );
    case 'bad-value':
      return new ToolError(
        'INVALID_ARGUMENT',
        `${elementText(element)} does not accept ${quoted}: it expects ${failure.expected}.`,
        {
          hint: `Its value is still ${JSON.stringify(failure.value)}.`,
          details: { target, expected: failure.expected, value: failure.value },
        },
      );
  }
}

/** The error for a field that the page does not leave focused: text would go to another element. */
export function focusTakenError(
  target: string,
  element: ElementReport,
  { focusedMarkup = 'another element' }: { readonly focusedMarkup?: string | undefined },
): ToolError {
  return new ToolError(
    'ELEMENT_NOT_EDITABLE',
    `${elementText(element)} does not keep the keyboard focus: ${focusedMarkup} has it.`,
    {
      hint: 'Type into that element, or close what takes the focus.',
      details: { target, element },
    },
  );
}

function shownOptions(options: readonly string[]): string {
  const rest = options.length - OPTIONS_SHOWN_MAX;
  const shown = options.slice(0, OPTIONS_SHOWN_MAX).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function reportedOptions(options: readonly string[]) {
  return { options: options.slice(0, OPTIONS_REPORTED_MAX), options_count: options.length };
}
