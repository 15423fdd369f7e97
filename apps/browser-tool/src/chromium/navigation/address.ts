import type { EngineCall, PageAddress } from '../../engine.ts';
import { isDocumentUnloaded, type PageScripts } from '../page/page-scripts.ts';
import { shownUrl } from '../page/frames.ts';
import type { Page } from '../page/page.ts';

const ATTEMPTS = 3;
const ANSWER_TIMEOUT_MS = 30_000;

/** The URL and title of the page, also while it navigates. */
export async function readAddress(
  page: Page,
  scripts: PageScripts,
  call: EngineCall,
): Promise<PageAddress> {
  for (let attempt = 1; attempt <= ATTEMPTS && !page.hasEnded; attempt += 1) {
    const over = new AbortController();
    // A page that navigates runs no scripts until the new document is there.
    const whileNavigating = page.changes
      .until(() => page.loading.isNavigating, {
        timeoutMs: ANSWER_TIMEOUT_MS,
        signal: AbortSignal.any([call.signal, over.signal]),
      })
      .then(() => readTargetAddress(page));
    whileNavigating.catch(() => undefined);
    try {
      const address = page.loading.isNavigating
        ? await whileNavigating
        : await Promise.race([readFromPage(page, scripts, call), whileNavigating]);
      if (address !== undefined) return address;
    } catch (error) {
      if (!isDocumentUnloaded(error)) throw error;
    } finally {
      over.abort();
    }
  }
  return { url: shownUrl(page.main), title: '' };
}

async function readFromPage(
  page: Page,
  scripts: PageScripts,
  call: EngineCall,
): Promise<PageAddress> {
  const { url, title } = await scripts.call(page, page.main.id, 'address', undefined, call);
  return { url: page.main.unreachableUrl ?? url, title };
}

/** The URL that a page shows or is loading; a new tab has none yet. */
export function destinationOf({ loading, main }: Page): string {
  return loading.pendingUrl ?? (shownUrl(main) || 'about:blank');
}

/**
 * The address according to the browser, without running a script in the page. Undefined if a new document came meanwhile: the title
 * may be that of the one before.
 */
async function readTargetAddress(page: Page): Promise<PageAddress | undefined> {
  const { shown } = page.loading;
  const { targetInfo } = await page.send('Target.getTargetInfo');
  if (page.loading.shown !== shown) return undefined;
  return { url: shownUrl(page.main) || destinationOf(page), title: targetInfo.title };
}
