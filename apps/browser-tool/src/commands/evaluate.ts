import { z } from 'zod';
import { ACTING, command, deadlineFor, runCall, ELEMENT_ALIASES } from './command.ts';
import { fields } from './fields.ts';

const TIMEOUT_MS = 30_000;
const TEXT_CHARS_MAX = 20_000;

export const evaluate = command({
  name: 'evaluate',
  http: { method: 'POST', path: '/evaluate' },
  inBatch: true,
  aliases: {
    ...ELEMENT_ALIASES,
    expression: 'function',
    script: 'function',
    code: 'function',
    javascript: 'function',
  },
  params: z.object({
    function: z.string().min(1),
    target: fields.target.optional(),
    args: z.array(z.unknown()).default([]),
    awaitPromise: z.boolean().default(true),
    dialog: fields.dialog,
    promptText: fields.promptText,
    timeoutMs: fields.timeoutMs(TIMEOUT_MS),
  }),
  tool: {
    name: 'browser_evaluate',
    title: 'Evaluate',
    description: 'Run a function(element?, ...args) or expression in the page',
    fields: ['function', 'target', 'args', 'timeoutMs'],
    unlisted: ['dialog', 'promptText'],
    listedDefaults: ['timeoutMs'],
    annotations: ACTING,
    text({ result, type }) {
      if (type === 'undefined') return 'undefined';
      const json = JSON.stringify(result, undefined, 1) ?? 'undefined';
      if (json.length <= TEXT_CHARS_MAX) return json;
      return `${json.slice(0, TEXT_CHARS_MAX)}… (${json.length - TEXT_CHARS_MAX} more characters)`;
    },
  },
  async run(
    { function: source, target, args, awaitPromise, dialog, promptText, timeoutMs },
    context,
  ) {
    const options = { name: 'evaluate', deadlineMs: deadlineFor(timeoutMs), dialog, promptText };
    return runCall(context, options, async (engine, call) => {
      const request = { source, args, target, awaitPromise, timeoutMs };
      return { ...(await engine.evaluate(request, call)) };
    });
  },
});
