import { withTimeout } from '@model-gateway/kernel';
import type { DomRequest, WaitRequest } from '../../commands/params.ts';
import type { DomOutcome, EngineCall, WaitOutcome } from '../../engine.ts';
import { notReadyError } from '../../session/element-errors.ts';
import { parseTarget } from '../../session/target.ts';
import type { Browser } from '../browser.ts';
import type { Elements } from '../input/elements.ts';
import type { Page } from './page.ts';
import { isDocumentUnloaded, type PageScripts } from './page-scripts.ts';

const PAUSES_MS = [0, 16, 50];
const PAUSE_MS = 100;
// The minimum, so that a timeout of 0 still gets a result.
const COUNT_MS_MIN = 1_000;

/** The elements of the page that match a selector. */
export async function inspect(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  { selector, ...options }: DomRequest,
  call: EngineCall,
): Promise<DomOutcome> {
  const frameId =
    selector === undefined ? page.main.id : await elements.frameFor(page, selector, call);
  const query = selector === undefined ? undefined : parseTarget(selector);
  const found = await scripts.call(page, frameId, 'inspect', { query, ...options }, call);
  if (!found.ok) throw notReadyError(selector ?? '', found, 0);
  return { count: found.count, matches: found.matches, truncated: found.truncated };
}

/** Waits until the elements that match a target are in a state, also in a page that takes the place of this one. */
export async function waitFor(
  first: Page,
  browser: Pick<Browser, 'activePage'>,
  scripts: PageScripts,
  elements: Elements,
  { target, state, timeoutMs }: WaitRequest,
  call: EngineCall,
): Promise<WaitOutcome> {
  const deadline = performance.now() + timeoutMs;
  let page = first;
  for (let attempt = 0; ; attempt += 1) {
    if (page.hasEnded) page = await browser.activePage();
    const countMs = Math.max(COUNT_MS_MIN, deadline - performance.now());
    const counting = countMatches(page, scripts, elements, target, call);
    const counted = await withTimeout(counting, countMs, () => undefined);
    if (counted !== undefined && !counted.ok) throw notReadyError(target, counted, 0);
    const { count = 0, visible = 0 } = counted ?? {};
    const states = {
      attached: count > 0,
      visible: visible > 0,
      hidden: visible === 0,
      detached: count === 0,
    };
    const found = counted !== undefined && states[state];
    const rest = deadline - performance.now();
    if (found || rest <= 0) return { found, count };
    const pause = Math.min(PAUSES_MS[attempt] ?? PAUSE_MS, rest);
    await page.changes.until(() => page.hasEnded, { timeoutMs: pause, signal: call.signal });
  }
}

/** Undefined while the document is replaced. */
async function countMatches(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  target: string,
  call: EngineCall,
) {
  try {
    const frameId = await elements.frameFor(page, target, call);
    return await scripts.call(page, frameId, 'count', { query: parseTarget(target) }, call);
  } catch (error) {
    if (isDocumentUnloaded(error)) return undefined;
    throw error;
  }
}
