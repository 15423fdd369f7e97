import { z } from 'zod';
import { addressText } from './address-text.ts';
import { command, deadlineFor, runCall, TIMEOUT_ALIASES } from './command.ts';
import { fields } from './fields.ts';
import { loadText, navigationData } from './navigate.ts';

const TIMEOUT_MS = 30_000;
const DEADLINE_MS = 60_000;

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
    params: z.object({
      waitUntil: fields.waitUntil,
      timeoutMs: fields.timeoutMs(TIMEOUT_MS),
      dialog: fields.dialog,
      promptText: fields.promptText,
      includeSnapshot: fields.includeSnapshot,
    }),
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
    async run({ waitUntil, timeoutMs, dialog, promptText }, context) {
      const options = {
        name: direction,
        deadlineMs: deadlineFor(timeoutMs, DEADLINE_MS),
        dialog,
        promptText,
      };
      return runCall(context, options, async (engine, call) =>
        navigationData(await engine.traverse(direction, { waitUntil, timeoutMs }, call)),
      );
    },
  });
}

export const back = traversal('back', 'Back');
export const forward = traversal('forward', 'Forward');
export const reload = traversal('reload', 'Reload');
