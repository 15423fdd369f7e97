import type { EngineCall, PageAddress } from '../engine.ts';
import { isDocumentUnloaded, type PageScripts } from './page-scripts.ts';
import { shownUrl } from './frames.ts';
import type { Page } from './page.ts';

const ATTEMPTS = 3;
const ANSWER_TIMEOUT_MS = 30_000;

/** Where the page is and what it is called, also while it is moving on. */
export async function readAddress(
  page: Page,
  scripts: PageScripts,
  call: EngineCall,
): Promise<PageAddress> {
  for (let attempt = 1; attempt <= ATTEMPTS && !page.isGone; attempt += 1) {
    const over = new AbortController();
    // A page that is on its way somewhere answers no scripts until it is there.
    const held = page.changes
      .until(() => page.loading.isNavigating, {
        timeoutMs: ANSWER_TIMEOUT_MS,
        signal: AbortSignal.any([call.signal, over.signal]),
      })
      .then(() => readTargetAddress(page));
    held.catch(() => undefined);
    try {
      if (page.loading.isNavigating) return await held;
      const asked = scripts.call(page, page.main.id, 'address', undefined, call);
      const { url, title } = await Promise.race([asked, held]);
      return { url: page.main.unreachableUrl ?? url, title };
    } catch (error) {
      if (!isDocumentUnloaded(error)) throw error;
    } finally {
      over.abort();
    }
  }
  return { url: shownUrl(page.main), title: '' };
}

/** Where a page is or is going; a tab that just came has no address at all. */
export function destinationOf({ loading, main }: Page): string {
  return loading.pendingUrl ?? (shownUrl(main) || 'about:blank');
}

/** As the browser tells it without asking the page. */
async function readTargetAddress(page: Page): Promise<PageAddress> {
  const { targetInfo } = await page.send('Target.getTargetInfo');
  return { url: shownUrl(page.main) || destinationOf(page), title: targetInfo.title };
}
