import { z } from 'zod';
import { ACTING, command, deadlineFor, runCall, ELEMENT_ALIASES } from './command.ts';
import { actionData, fields, TIMEOUT_MS } from './fields.ts';

const COUNT_MAX = 100;

export const press = command({
  name: 'press',
  http: { method: 'POST', path: '/press' },
  inBatch: true,
  aliases: ELEMENT_ALIASES,
  params: z.object({
    key: z.string().min(1).max(100),
    target: fields.target.optional(),
    count: z.int().min(1).max(COUNT_MAX).default(1),
    dialog: fields.dialog,
    promptText: fields.promptText,
    timeoutMs: fields.timeoutMs(TIMEOUT_MS),
    includeSnapshot: fields.includeSnapshot,
  }),
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
  async run({ key, target, count, dialog, promptText, timeoutMs }, context) {
    const options = { name: 'press', deadlineMs: deadlineFor(timeoutMs), dialog, promptText };
    return runCall(context, options, async (engine, call) => {
      const request = { key, target, count, timeoutMs };
      return { pressed: key, ...actionData(await engine.press(request, call)), dialogs: [] };
    });
  },
});
