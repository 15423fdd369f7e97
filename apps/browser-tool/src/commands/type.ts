import { elementText } from '../session/element-errors.ts';
import { ACTING, command, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData, elementOf } from './fields.ts';
import { typeParams } from './params.ts';

// The upper limit for one key when text is typed key by key.
const KEY_MS = 50;
const SHOWN_CHARS_MAX = 100;

export const type = command({
  name: 'type',
  http: { method: 'POST', path: '/type' },
  inBatch: true,
  aliases: { ...ELEMENT_ALIASES, clearFirst: 'clear', value: 'text' },
  params: typeParams,
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
  run(params, context) {
    const typingMs = params.slowly ? params.text.length * KEY_MS : 0;
    const timeoutMs = params.timeoutMs + typingMs;
    return runCall(context, 'type', { ...params, timeoutMs }, async (engine, call) => {
      const { target, value, ...outcome } = await engine.type(params, call);
      const data = { typed: true, value, target, ...actionData(outcome) };
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
