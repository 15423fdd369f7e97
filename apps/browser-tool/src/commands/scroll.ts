import { z } from 'zod';
import { command, deadlineFor, runCall, ELEMENT_ALIASES } from './command.ts';
import { fields, TIMEOUT_MS } from './fields.ts';

export const scroll = command({
  name: 'scroll',
  inBatch: true,
  aliases: {
    ...ELEMENT_ALIASES,
    x: 'deltaX',
    y: 'deltaY',
    dx: 'deltaX',
    dy: 'deltaY',
  },
  params: z.object({
    target: fields.target.optional(),
    deltaX: z.number().default(0),
    deltaY: z.number().default(0),
    to: z.enum(['top', 'bottom']).optional(),
    timeoutMs: fields.timeoutMs(TIMEOUT_MS),
  }),
  async run({ target, deltaX, deltaY, to, timeoutMs }, context) {
    const options = { name: 'scroll', deadlineMs: deadlineFor(timeoutMs) };
    return runCall(context, options, async (engine, call) => {
      const request = { target, deltaX, deltaY, to, timeoutMs };
      const { scrollX, scrollY, url, title } = await engine.scroll(request, call);
      return { scroll_x: scrollX, scroll_y: scrollY, url, title };
    });
  },
});
