import { z } from 'zod';
import { elementText } from '../session/not-ready.ts';
import { ACTING, command, deadlineFor, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData, elementOf, fields, TIMEOUT_MS } from './fields.ts';

export const click = command({
  name: 'click',
  http: { method: 'POST', path: '/click' },
  inBatch: true,
  aliases: { ...ELEMENT_ALIASES, double: 'doubleClick' },
  params: z.object({
    target: fields.target.describe('e12, CSS, text=… or xpath=…'),
    element: fields.element,
    button: z.enum(['left', 'right', 'middle']).default('left'),
    doubleClick: z.boolean().default(false),
    modifiers: z.array(z.enum(['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'])).default([]),
    position: z.object({ x: z.number(), y: z.number() }).optional(),
    force: z.boolean().default(false),
    dialog: fields.dialog,
    promptText: fields.promptText,
    timeoutMs: fields.timeoutMs(TIMEOUT_MS),
    includeSnapshot: fields.includeSnapshot,
  }),
  tool: {
    name: 'browser_click',
    title: 'Click',
    description: 'Click an element',
    fields: [
      'target',
      'element',
      'button',
      'doubleClick',
      'modifiers',
      'force',
      'dialog',
      'timeoutMs',
      'includeSnapshot',
    ],
    unlisted: ['promptText'],
    annotations: ACTING,
    canSnapshot: true,
    text: ({ target }, { doubleClick }) =>
      `${doubleClick ? 'Double-clicked' : 'Clicked'} ${elementText(elementOf(target))}`,
  },
  async run(params, context) {
    const { target, button, doubleClick, modifiers, position, force, timeoutMs } = params;
    const { dialog, promptText } = params;
    const request = { target, button, double: doubleClick, modifiers, position, force, timeoutMs };
    const options = { name: 'click', deadlineMs: deadlineFor(timeoutMs), dialog, promptText };
    return runCall(context, options, async (engine, call) => {
      const { target: element, ...outcome } = await engine.click(request, call);
      const data = { clicked: true, target: element, ...actionData(outcome) };
      return { ...data, dialogs: [], elapsed_ms: 0 };
    });
  },
});
