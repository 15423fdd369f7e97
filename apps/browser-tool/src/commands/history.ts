import { addressText } from './address-text.ts';
import { command, runCall, TIMEOUT_ALIASES } from './command.ts';
import { loadText, navigationData, NAVIGATION_DEADLINE_MS } from './navigate.ts';
import { historyParams } from './params.ts';

const ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;

function traversal(direction: 'back' | 'forward' | 'reload', title: string) {
  return command({
    name: direction,
    http: { method: 'POST', path: `/${direction}` },
    inBatch: true,
    aliases: TIMEOUT_ALIASES,
    params: historyParams,
    ...(direction === 'reload'
      ? {}
      : {
          tool: {
            name: `browser_navigate_${direction}` as const,
            title,
            description: `Go ${direction}`,
            fields: ['includeSnapshot'] as const,
            unlisted: ['dialog', 'promptText'] as const,
            annotations: ANNOTATIONS,
            canSnapshot: true,
            text: (data) => `Went ${direction} to ${addressText(data['url'])}${loadText(data)}`,
          },
        }),
    run: (params, context) =>
      runCall(
        context,
        direction,
        params,
        async (engine, call) => navigationData(await engine.traverse(direction, params, call)),
        NAVIGATION_DEADLINE_MS,
      ),
  });
}

export const back = traversal('back', 'Back');
export const forward = traversal('forward', 'Forward');
export const reload = traversal('reload', 'Reload');
