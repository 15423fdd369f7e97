import type { EngineCall } from '../../engine.ts';
import type { PressArrival } from '../../injected/press.ts';
import type { Page } from '../page/page.ts';
import { isDocumentUnloaded, type PageScripts } from '../page/page-scripts.ts';

const ANSWER_TIMEOUT_MS = 5_000;
const UNKNOWN: PressArrival = { at: 'unknown' };

/** Where the expected press arrived that was sent to a frame. A page that navigates, or ended, has received it. */
export async function readPressArrival(
  page: Page,
  scripts: PageScripts,
  frameId: string,
  call: EngineCall,
): Promise<PressArrival> {
  const over = new AbortController();
  const hasLeft = page.changes
    .until(() => page.hasEnded || page.loading.isNavigating, {
      timeoutMs: ANSWER_TIMEOUT_MS,
      signal: AbortSignal.any([call.signal, over.signal]),
    })
    .then(() => UNKNOWN);
  try {
    const read = scripts.call(page, frameId, 'pressArrival', undefined, call);
    const arrival = await Promise.race([read, hasLeft]);
    const isInFrame =
      arrival.at === 'nowhere' && arrival.mayBeInFrame && page.frames.children(frameId).length > 0;
    return isInFrame ? UNKNOWN : arrival;
  } catch (error) {
    if (isDocumentUnloaded(error)) return UNKNOWN;
    throw error;
  } finally {
    over.abort();
  }
}
