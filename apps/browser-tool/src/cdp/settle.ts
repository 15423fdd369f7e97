import type { EngineCall } from '../engine.ts';
import { isDocumentUnloaded, type PageScripts } from './page-scripts.ts';
import type { Page } from './page.ts';

/** How a page was before an action. */
export interface SettleMark {
  readonly startedNavigations: number;
  readonly shownDocuments: number;
  readonly loaderId: string;
  readonly nextRequest: number;
}

/** How long an action's own navigation may take to begin. */
const NAVIGATION_START_MS = 50;
const DOCUMENT_TIMEOUT_MS = 10_000;
const LOAD_TIMEOUT_MS = 1_000;
const QUIET_MS = 30;
const CAP_MS = 1_000;

/** Taken right before an action. */
export function markPage(page: Page): SettleMark {
  return {
    startedNavigations: page.loading.started,
    shownDocuments: page.loading.shown,
    loaderId: page.loading.loaderId,
    nextRequest: page.requests.next,
  };
}

/**
 * Waits until a page came to rest after an action: the navigation that it started showed its document, or the document stopped
 * changing and no request of the action is without an answer. Answers whether the page navigated.
 */
export async function settle(
  page: Page,
  scripts: PageScripts,
  mark: SettleMark,
  call: EngineCall,
  navigationStartMs = NAVIGATION_START_MS,
): Promise<boolean> {
  const end = performance.now() + CAP_MS;
  const { signal } = call;
  const hasNavigated = (): boolean => page.loading.shown > mark.shownDocuments;
  const isNavigating = (): boolean =>
    page.loading.isNavigating && page.loading.started > mark.startedNavigations;
  const isOver = (): boolean => page.isGone || performance.now() >= end;

  const quiet = awaitQuiet(page, scripts, call, end);
  quiet.catch(() => undefined);
  // A link navigates at once, a handler may take a moment; what navigates later is not of this action.
  if (navigationStartMs > 0) {
    await page.changes.until(() => isNavigating() || page.isGone, {
      timeoutMs: navigationStartMs,
      signal,
    });
  }
  if (isNavigating() || (hasNavigated() && !page.loading.reached('DOMContentLoaded'))) {
    await awaitDocument(page, call);
    return hasNavigated();
  }
  await quiet;
  while (!isOver() && !isNavigating() && page.requests.countFrom(mark.nextRequest) > 0) {
    await page.changes.until(
      () => isNavigating() || isOver() || page.requests.countFrom(mark.nextRequest) === 0,
      { timeoutMs: Math.max(0, end - performance.now()), signal },
    );
    // The answer changes the page in turn.
    if (!isOver() && !isNavigating()) await awaitQuiet(page, scripts, call, end);
  }
  if (isNavigating()) await awaitDocument(page, call);
  return hasNavigated();
}

/** Waits for the document of a navigation that is under way, and a little for the rest of it. */
async function awaitDocument(page: Page, { signal }: EngineCall): Promise<void> {
  const { loading, changes } = page;
  // A navigation without a document of its own, such as a download, leaves the one that was there, which has got that far.
  await changes.until(
    () => page.isGone || (!loading.isNavigating && loading.reached('DOMContentLoaded')),
    { timeoutMs: DOCUMENT_TIMEOUT_MS, signal },
  );
  if (loading.isNavigating) return;
  await changes.until(() => page.isGone || loading.reached('load'), {
    timeoutMs: LOAD_TIMEOUT_MS,
    signal,
  });
}

async function awaitQuiet(
  page: Page,
  scripts: PageScripts,
  call: EngineCall,
  end: number,
): Promise<void> {
  const capMs = Math.max(0, end - performance.now());
  try {
    await Promise.race([
      scripts.call(page, page.main.id, 'quiet', { quietMs: QUIET_MS, capMs }, call),
      page.ended,
      new Promise((resolve) => setTimeout(resolve, capMs).unref()),
    ]);
  } catch (error) {
    if (!isDocumentUnloaded(error)) throw error;
  }
}
