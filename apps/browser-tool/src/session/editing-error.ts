import type { ElementReport } from '../engine.ts';
import type { EditingStart } from '../page-scripts/editing.ts';
import { ToolError } from '../tool-error.ts';
import { elementText, notReadyError } from './not-ready.ts';

const OPTIONS_SHOWN_MAX = 30;

/** Why a field did not take a text, as an error for the caller. */
export function editingError(
  target: string,
  element: ElementReport,
  text: string,
  refused: Extract<EditingStart, { readonly ok: false }>,
): ToolError {
  const said = JSON.stringify(text);
  switch (refused.why) {
    case 'stale':
      return notReadyError(target, { ok: false, why: 'stale' }, 0);
    case 'no-option':
      return new ToolError('INVALID_ARGUMENT', `${elementText(element)} has no option ${said}.`, {
        hint: `Its options: ${refused.options.slice(0, OPTIONS_SHOWN_MAX).join(', ')}.`,
        details: { target, options: refused.options },
      });
    case 'disabled-option':
      return new ToolError(
        'ELEMENT_DISABLED',
        `The option ${said} of ${elementText(element)} is disabled.`,
        {
          hint: `Options that can be chosen: ${refused.options.slice(0, OPTIONS_SHOWN_MAX).join(', ')}.`,
          details: { target, options: refused.options },
        },
      );
    case 'bad-value':
      return new ToolError(
        'INVALID_ARGUMENT',
        `${elementText(element)} does not take ${said}: it takes ${refused.expected}.`,
        {
          hint: `Its value is still ${JSON.stringify(refused.value)}.`,
          details: { target, expected: refused.expected, value: refused.value },
        },
      );
  }
}
