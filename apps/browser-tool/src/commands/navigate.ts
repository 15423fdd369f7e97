import type { BrowserEngine, EngineCall, NavigationOutcome } from '../engine.ts';
import { ToolError } from '../errors.ts';
import { addressText } from './address-text.ts';
import { command, READING, runCall, TIMEOUT_ALIASES, type CommandData } from './command.ts';
import { navigateParams } from './params.ts';

/** The least hard limit for calls that open a page. */
export const NAVIGATION_DEADLINE_MS = 60_000;

/** The result of a navigation. */
export function navigationData(outcome: NavigationOutcome): CommandData {
  const { url, title, status, statusText, loadState, loadError, redirected } = outcome;
  return {
    url,
    title,
    status,
    ...(statusText === '' ? {} : { status_text: statusText }),
    load_state: loadState,
    ...(loadError === undefined ? {} : { load_error: loadError }),
    redirected,
    elapsed_ms: 0,
    dialogs: [],
  };
}

/** What is missing of a page, if anything. */
export function loadText({ load_state: state, load_error: error }: CommandData): string {
  if (typeof error === 'string') return ` (incomplete: its loading broke off with ${error})`;
  return state === 'interactive' ? ' (still loading)' : '';
}

export const navigate = command({
  name: 'navigate',
  http: { method: 'POST', path: '/navigate' },
  inBatch: true,
  aliases: { ...TIMEOUT_ALIASES, waitForSelector: 'waitFor' },
  params: navigateParams,
  tool: {
    name: 'browser_navigate',
    title: 'Navigate',
    description: 'Open a URL',
    fields: ['url', 'waitUntil', 'timeoutMs', 'includeSnapshot'],
    unlisted: ['dialog', 'promptText'],
    annotations: { ...READING, readOnlyHint: false },
    listedDefaults: ['includeSnapshot'],
    canSnapshot: true,
    text: (data) => `Navigated to ${addressText(data['url'])}${loadText(data)}`,
  },
  run(params, context) {
    const { waitUntil, waitFor, timeoutMs } = params;
    const url = context.checkUrl(params.url);
    const work = async (engine: BrowserEngine, call: EngineCall): Promise<CommandData> => {
      const start = performance.now();
      const outcome = await engine.navigate({ url, waitUntil, timeoutMs }, call);
      if (waitFor !== undefined) {
        const request = {
          target: waitFor,
          state: 'visible',
          timeoutMs: Math.max(0, timeoutMs - (performance.now() - start)),
        } as const;
        const { found } = await engine.waitFor(request, call);
        if (!found) throw selectorTimeout(waitFor, timeoutMs);
      }
      return navigationData(outcome);
    };
    return runCall(context, 'navigate', params, work, NAVIGATION_DEADLINE_MS);
  },
});

function selectorTimeout(selector: string, timeoutMs: number): ToolError {
  return new ToolError(
    'TIMEOUT',
    `The page loaded, but ${JSON.stringify(selector)} did not become visible within ${timeoutMs} ms.`,
    { hint: 'Call browser_snapshot to see what is there instead.', details: { selector } },
  );
}
