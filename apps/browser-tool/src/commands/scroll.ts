import { command, runCall, ELEMENT_ALIASES } from './command.ts';
import { scrollParams } from './params.ts';

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
  params: scrollParams,
  run: (params, context) =>
    runCall(context, 'scroll', params, async (engine, call) => {
      const { scrollX, scrollY, url, title } = await engine.scroll(params, call);
      return { scroll_x: scrollX, scroll_y: scrollY, url, title };
    }),
});
