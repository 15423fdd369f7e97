import { z } from 'zod';
import { elementText } from '../session/not-ready.ts';
import { ACTING, command, deadlineFor, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData, elementOf, fields, TIMEOUT_MS } from './fields.ts';

// The upper limit for one key when text is typed key by key.
const KEY_MS = 50;
const SHOWN_CHARS_MAX = 100;

export const type = command({
  name: 'type',
  http: { method: 'POST', path: '/type' },
  inBatch: true,
  aliases: { ...ELEMENT_ALIASES, clearFirst: 'clear', value: 'text' },
  params: z.object({
    target: fields.target,
    text: fields.text,
    element: fields.element,
    submit: z.boolean().default(false),
    slowly: z.boolean().default(false),
    clear: z.boolean().default(true),
    dialog: fields.dialog,
    promptText: fields.promptText,
    timeoutMs: fields.timeoutMs(TIMEOUT_MS),
    includeSnapshot: fields.includeSnapshot,
  }),
  tool: {
    name: 'browser_type',
    title: 'Type',
    description: 'Type into a field, or choose an option of a select',
    fields: [
      'target',
      'text',
      'element',
      'submit',
      'slowly',
      'clear',
      'dialog',
      'timeoutMs',
      'includeSnapshot',
    ],
    unlisted: ['promptText'],
    annotations: ACTING,
    listedDefaults: ['clear'],
    canSnapshot: true,
    text({ target, value, navigated }, { text, submit, clear }) {
      const shown = value === '•••' ? '•••' : text;
      const submitted = submit ? ' and pressed Enter' : '';
      const summary = `Typed ${JSON.stringify(clip(shown))} into ${elementText(elementOf(target))}${submitted}`;
      const isAsTyped = value === '•••' || navigated === true || holds(String(value), text, clear);
      return isAsTyped
        ? summary
        : `${summary}; its value is now ${JSON.stringify(clip(String(value)))}`;
    },
  },
  async run(params, context) {
    const { target, text, submit, slowly, clear, dialog, promptText, timeoutMs } = params;
    const request = { target, text, submit, slowly, clear, timeoutMs };
    const typingMs = slowly ? text.length * KEY_MS : 0;
    const deadlineMs = deadlineFor(timeoutMs + typingMs);
    const options = { name: 'type', deadlineMs, dialog, promptText };
    return runCall(context, options, async (engine, call) => {
      const { target: element, value, ...outcome } = await engine.type(request, call);
      const data = { typed: true, value, target: element, ...actionData(outcome) };
      return { ...data, dialogs: [], elapsed_ms: 0 };
    });
  },
});

/** Whether a field has the typed value, ignoring whitespace. */
function holds(value: string, text: string, clear: boolean): boolean {
  const [actual, typed] = [value, text].map((each) => each.replace(/\s+/g, ' ').trim());
  return actual === typed || (!clear && actual?.endsWith(typed ?? '') === true);
}

function clip(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}
