import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ToolError } from '../errors.ts';
import { command, runCall, ELEMENT_ALIASES } from './command.ts';
import { waitForParams } from './params.ts';

const PAUSE_MS_MAX = 60_000;
const PAUSE_MS_DEFAULT = 1_000;

export const waitForSelector = command({
  name: 'wait-for-selector',
  http: { method: 'POST', path: '/wait-for-selector' },
  inBatch: true,
  aliases: ELEMENT_ALIASES,
  params: waitForParams,
  run: (params, context) =>
    runCall(context, 'wait-for-selector', params, async (engine, call) => {
      const { target, state, timeoutMs, required } = params;
      const { found, count } = await engine.waitFor(params, call);
      if (!found && required) {
        throw new ToolError(
          'TIMEOUT',
          `${JSON.stringify(target)} did not become ${state} within ${timeoutMs} ms.`,
          {
            hint: 'Call browser_snapshot to see what is on the page.',
            details: { selector: target, state, count, timeout_ms: timeoutMs },
          },
        );
      }
      return { selector: target, found, count, state, elapsed_ms: 0 };
    }),
});

/** A pause between the operations of a batch. */
export const wait = command({
  name: 'wait',
  inBatch: true,
  aliases: {
    durationMs: 'ms',
    timeoutMs: 'ms',
    timeMs: 'ms',
    duration: 'ms',
    timeout: 'ms',
    time: 'ms',
  },
  params: z.object({ ms: z.int().min(0).max(PAUSE_MS_MAX).default(PAUSE_MS_DEFAULT) }),
  async run({ ms }, { signal }) {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
    return { waited_ms: ms };
  },
});
