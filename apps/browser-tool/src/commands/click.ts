import { elementText } from '../session/element-errors.ts';
import { ACTING, command, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData, elementOf } from './fields.ts';
import { clickParams } from './params.ts';

export const click = command({
  name: 'click',
  http: { method: 'POST', path: '/click' },
  inBatch: true,
  aliases: { ...ELEMENT_ALIASES, double: 'doubleClick' },
  params: clickParams,
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
  run: (params, context) =>
    runCall(context, 'click', params, async (engine, call) => {
      const { target, ...outcome } = await engine.click(params, call);
      const data = { clicked: true, target, ...actionData(outcome) };
      return { ...data, dialogs: [], elapsed_ms: 0 };
    }),
});
