import { ACTING, command, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData } from './fields.ts';
import { pressParams } from './params.ts';

export const press = command({
  name: 'press',
  http: { method: 'POST', path: '/press' },
  inBatch: true,
  aliases: ELEMENT_ALIASES,
  params: pressParams,
  tool: {
    name: 'browser_press_key',
    title: 'Press key',
    description: 'Press a key or chord, e.g. Control+A',
    fields: ['key', 'target', 'dialog', 'includeSnapshot'],
    unlisted: ['promptText'],
    annotations: ACTING,
    canSnapshot: true,
    text: ({ pressed }) => `Pressed ${String(pressed)}`,
  },
  run: (params, context) =>
    runCall(context, 'press', params, async (engine, call) => {
      const outcome = await engine.press(params, call);
      return { pressed: params.key, ...actionData(outcome), dialogs: [] };
    }),
});
